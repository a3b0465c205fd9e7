// src/handlers.ts: converts requests, responses and errors
import { type ReportError, readCredentials } from '@animal-store/app-kit';
import { type Catalogue, DomainError, type DomainErrorCode, type Pet } from '@animal-store/domain';
import type { Authenticate } from '@animal-store/domain/transport';
import { type handleUnaryCall, status } from '@grpc/grpc-js';

const STATUS = {
  invalid: status.INVALID_ARGUMENT,
  pet_not_found: status.NOT_FOUND,
  key_not_found: status.NOT_FOUND,
  idempotency_key_reused: status.ALREADY_EXISTS,
  storage_unavailable: status.UNAVAILABLE,
} as const satisfies Record<DomainErrorCode, status>;

type Message = Readonly<Record<string, string | undefined>>;
type Dependencies = { catalogue: Catalogue; authenticate: Authenticate; reportError: ReportError };

const integer = (digits: string | undefined) => (digits === undefined ? undefined : BigInt(digits));
const message = ({ id, categoryId, ...pet }: Pet) => ({ id: String(id), categoryId: String(categoryId), ...pet });

export function createHandlers({ catalogue, authenticate, reportError }: Dependencies) {
  function handler(run: (request: Message, holder: string) => Promise<object>): handleUnaryCall<Message, object> {
    return async ({ request, metadata }, respond) => {
      try {
        const credentials = readCredentials(metadata.get('authorization').map(String));
        const key = credentials.kind === 'key' ? await authenticate(credentials.key) : null;
        if (key === null)
          respond({ code: status.UNAUTHENTICATED, details: 'send authorization: Bearer and an API key' });
        else respond(null, await run(request, key.holder));
      } catch (error) {
        reportError(error);
        if (DomainError.is(error)) respond({ code: STATUS[error.code], details: error.message });
        else respond({ code: status.INTERNAL, details: 'unexpected error in the service; it has been logged' });
      }
    };
  }

  return {
    ListPets: handler(async ({ limit, status, after }) => {
      const { pets, next } = await catalogue.listPets({ limit, status, after: integer(after) });
      return { pets: pets.map(message), ...(next !== null && { next: String(next) }) };
    }),
    CreatePet: handler(async ({ name, categoryId, status, idempotencyKey: key }, holder) => {
      const newPet = { name, categoryId: integer(categoryId), status };
      return message((await catalogue.createPet(newPet, key === undefined ? undefined : { holder, key })).pet);
    }),
    GetPet: handler(async ({ id }) => message(await catalogue.getPet(integer(id)))),
  };
}
