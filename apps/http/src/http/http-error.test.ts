import { DomainError } from '@animal-store/domain';
import { Rejection } from '@animal-store/http-server';
import { describe, expect, test } from 'vitest';
import { errorResponse, HttpError, isUnexpected, unavailableBecause } from './http-error.ts';

const OVERLOAD = HttpError.unavailable('overload', 'overloaded');
const STORAGE = new DomainError('storage_unavailable', 'try again');
const DEFECT = new TypeError('secret');

describe('errorResponse', () => {
  test.each([
    [new HttpError('not_found', 'no', { allow: 'GET' }), 404, 'not_found', 'no', { allow: 'GET' }],
    [OVERLOAD, 503, 'service_unavailable', 'overloaded', { 'retry-after': '1' }],
    [new Rejection(413, 'too large'), 413, 'payload_too_large', 'too large', {}],
    [new Rejection(408, 'late'), 408, 'invalid_request', 'late', {}],
    [new DomainError('invalid', 'no'), 400, 'invalid_request', 'no', {}],
    [new DomainError('pet_not_found', 'no'), 404, 'pet_not_found', 'no', {}],
    [new DomainError('key_not_found', 'no'), 404, 'not_found', 'no', {}],
    [new DomainError('idempotency_key_reused', 'no'), 422, 'idempotency_key_reused', 'no', {}],
    [STORAGE, 503, 'service_unavailable', 'try again', { 'retry-after': '1' }],
    [DEFECT, 500, 'internal_error', expect.stringMatching(/^unexpected error in the service; .* this request$/), {}],
  ])('renders %s as %d', (error, status, code, message, headers) => {
    const response = errorResponse(error);
    expect(response).toMatchObject({ status, headers: { 'content-type': 'application/json', ...headers } });
    expect(Object.keys(response.headers)).toHaveLength(1 + Object.keys(headers).length);
    expect(JSON.parse(String(response.body))).toEqual({ code, message, status });
  });
});

test.each([
  [OVERLOAD, { reason: 'overload', error: OVERLOAD }],
  [STORAGE, { reason: 'storage', error: STORAGE }],
  [new HttpError('not_found', 'no'), null],
  [new DomainError('invalid', 'no'), null],
  [DEFECT, null],
])('unavailableBecause finds why %s is a 503', (error, reason) => {
  expect(unavailableBecause(error)).toEqual(reason);
});

test.each([
  [OVERLOAD, false],
  [STORAGE, false],
  [new Rejection(400, 'no'), false],
  [DEFECT, true],
  [undefined, true],
])('isUnexpected judges %s: %s', (error, expected) => {
  expect(isUnexpected(error)).toBe(expected);
});

test('an HttpError has its name in the log', () => {
  expect(OVERLOAD).toMatchObject({ name: 'HttpError', message: 'overloaded', reason: 'overload' });
});
