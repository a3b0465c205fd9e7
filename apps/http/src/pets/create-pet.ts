import type { IncomingMessage } from 'node:http';
import { type IdempotencyKey, LIMITS } from '@animal-store/domain';
import { andThen, type Creation } from '@animal-store/domain/transport';
import { headerValues, readBody } from '@animal-store/http-server';
import { CLIENT_MESSAGES } from '../http/client-messages.ts';
import { HttpError } from '../http/http-error.ts';
import { BODY_MAX_BYTES, parseJson, requireJson } from '../http/request-body.ts';
import { jsonHeaders, jsonResponse } from '../http/response.ts';
import type { DescribedOperation } from '../openapi/document.ts';
import type { PetDependencies } from './dependencies.ts';
import { petJson } from './pet-json.ts';
import { EXAMPLE_NEW_PET, EXAMPLE_PET, petSchemas } from './schemas.ts';

/** `POST /pets`: creates a pet; with an Idempotency-Key, one pet however often it is sent. */
export function createPet({ catalogue, basePath }: PetDependencies): DescribedOperation {
  const respond = ({ pet, created }: Creation) => {
    const location = `${basePath}/pets/${pet.id}`;
    const headers = created ? { location } : { location, 'idempotent-replayed': 'true' };
    return jsonResponse(petJson(pet), 201, jsonHeaders(headers));
  };
  return {
    operationId: 'createPet',
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
    describe: (t) => ({
      tags: ['Pets'],
      summary: 'Add an animal',
      description:
        'Adds a new animal. A request with an Idempotency-Key can be repeated after a lost response: the animal is added once, and ' +
        'each repetition gets the first response again. Keys are kept as long as the animal.',
      parameters: [
        {
          name: 'Idempotency-Key',
          in: 'header',
          description: 'Names this creation among those of the holder of the API key. Visible ASCII characters.',
          schema: {
            type: 'string',
            minLength: 1,
            maxLength: LIMITS.idempotencyKey.maxLength,
            pattern: LIMITS.idempotencyKey.pattern.source,
          },
        },
      ],
      requestBody: {
        required: true,
        description: `At most ${BODY_MAX_BYTES} bytes of UTF-8.`,
        content: t.jsonContent('NewPet', EXAMPLE_NEW_PET),
      },
      responses: {
        201: {
          description: 'The animal as it was added.',
          headers: {
            Location: t.header('Where the animal can be read.', `${basePath}/pets/1`),
            'Idempotent-Replayed': t.optionalHeader(
              'Present if an earlier request with this key added the animal.',
              'true',
            ),
          },
          content: t.jsonContent('Pet', EXAMPLE_PET),
        },
        400: t.responseRef('BadRequest'),
        413: t.errorResponseObject(
          'payload_too_large',
          'the body is too large.',
          `the body must be at most ${BODY_MAX_BYTES} bytes`,
        ),
        415: t.errorResponseObject(
          'unsupported_media_type',
          'the body is not declared as plain application/json.',
          CLIENT_MESSAGES.contentType,
        ),
        422: t.errorResponseObject(
          'idempotency_key_reused',
          'the Idempotency-Key already stands for another animal.',
          'this idempotency key was used for another pet: use a new key, or send the first pet again',
        ),
      },
      schemas: petSchemas(t),
    }),
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
