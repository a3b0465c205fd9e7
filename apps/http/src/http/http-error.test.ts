import { DomainError } from '@animal-store/domain';
import { expect, test } from 'vitest';
import { errorResponse, HttpError, isUnexpected } from './http-error.ts';

test.each([
  [new HttpError('not_found', 'no', { allow: 'GET' }), 404, 'not_found', 'no', { allow: 'GET' }],
  [
    new HttpError('service_unavailable', 'overloaded'),
    503,
    'service_unavailable',
    'overloaded',
    { 'retry-after': '1' },
  ],
  [new HttpError('invalid_request', 'late', {}, 408), 408, 'invalid_request', 'late', {}],
  [new DomainError('invalid', 'no'), 400, 'invalid_request', 'no', {}],
  [new DomainError('pet_not_found', 'no'), 404, 'pet_not_found', 'no', {}],
  [new DomainError('key_not_found', 'no'), 404, 'not_found', 'no', {}],
  [new DomainError('idempotency_key_reused', 'no'), 422, 'idempotency_key_reused', 'no', {}],
  [new DomainError('storage_unavailable', 'no'), 503, 'service_unavailable', 'no', { 'retry-after': '1' }],
  [new TypeError('secret'), 500, 'internal_error', expect.stringMatching(/^unexpected error .* this request$/), {}],
])('errorResponse renders %s as %d', (error, status, code, message, headers) => {
  const response = errorResponse(error);
  expect(response).toMatchObject({ status, headers: { 'content-type': 'application/json', ...headers } });
  expect(Object.keys(response.headers)).toHaveLength(1 + Object.keys(headers).length);
  expect(JSON.parse(String(response.body))).toEqual({ code, message, status });
  expect(isUnexpected(error)).toBe(status === 500);
});
