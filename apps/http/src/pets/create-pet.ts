import type { IncomingMessage } from 'node:http';
import type { IdempotencyKey } from '@animal-store/domain';
import { andThen, type Creation } from '@animal-store/domain/transport';
import { headerValues, readBody } from '@animal-store/http-server';
import { CLIENT_MESSAGES } from '../http/client-messages.ts';
import { HttpError } from '../http/http-error.ts';
import type { Operation } from '../http/operation.ts';
import { BODY_MAX_BYTES, parseJson, requireJson } from '../http/request-body.ts';
import { jsonHeaders, jsonResponse } from '../http/response.ts';
import type { PetDependencies } from './dependencies.ts';
import { petJson } from './pet-json.ts';

/** `POST /pets`: creates a pet; with an Idempotency-Key, one pet however often it is sent. */
export function createPet({ catalogue, basePath }: PetDependencies): Operation {
  const respond = ({ pet, created }: Creation) => {
    const location = `${basePath}/pets/${pet.id}`;
    const headers = created ? { location } : { location, 'idempotent-replayed': 'true' };
    return jsonResponse(petJson(pet), 201, jsonHeaders(headers));
  };
  return {
    method: 'post',
    path: '/pets',
    handle(request, holder) {
      const { incoming } = request.env;
      requireJson(incoming);
      return readBody(incoming, BODY_MAX_BYTES).then((bytes) => {
        const key = idempotencyKey(incoming, holder);
        return andThen(catalogue.createPet(parseJson(bytes), key), respond);
      });
    },
  };
}

/** Node joins repeated fields with a comma and a space, which no key may contain. */
function idempotencyKey({ headers, rawHeaders }: IncomingMessage, holder: string): IdempotencyKey | undefined {
  const key = headers['idempotency-key'] as string | undefined;
  if (key === undefined) return undefined;
  const count = key.includes(', ') ? headerValues(rawHeaders, 'idempotency-key').length : 1;
  if (count > 1) {
    throw new HttpError('invalid_request', CLIENT_MESSAGES.notOnce('Idempotency-Key', count));
  }
  return { holder, key };
}
