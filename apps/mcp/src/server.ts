import { readVersion } from '@animal-store/app-kit';
import { DomainError, LIMITS, PET_STATUSES, type Pet } from '@animal-store/domain';
import { type AwaitableCatalogue, Violation } from '@animal-store/domain/transport';
import { type CallToolResult, McpServer, type StandardSchemaWithJSON } from '@modelcontextprotocol/server';

/** The holder of this transport's idempotency keys: no holder of an API key has a name with outer spaces. */
const HOLDER = ' mcp ';

const INTEGER = {
  type: ['string', 'integer'],
  pattern: '^-?[0-9]+$',
  description: 'A 64-bit integer. Write it as a decimal string if it has more than 15 digits.',
};
const STATUS = { type: 'string', enum: PET_STATUSES, description: 'Availability of the animal.' };

type Arguments = Readonly<Record<string, unknown>>;

/**
 * An MCP server whose tools are the use cases of the catalogue. 64-bit integers leave it as decimal strings.
 *
 * @param calls Has the calls in flight.
 * @param reportError Called with the error of each call that fails.
 */
export function createServer(
  catalogue: AwaitableCatalogue,
  calls: Set<Promise<unknown>>,
  reportError: (error: unknown) => void,
): McpServer {
  const server = new McpServer({ name: 'animal-store', version: readVersion(process.env).version });

  /** @param members The schema of each argument. @param call Returns what the tool returns as structured content. */
  function tool(
    name: string,
    { description, required, ...annotations }: { description: string; required: string[]; readOnlyHint: boolean },
    members: Readonly<Record<string, object>>,
    call: (given: Arguments) => Promise<Record<string, unknown>>,
  ): void {
    const inputSchema = accepting({ type: 'object', properties: members, required });
    server.registerTool(name, { description, inputSchema, annotations }, (given) => {
      const called = result(call(given), reportError);
      calls.add(called);
      return called.finally(() => calls.delete(called));
    });
  }

  tool(
    'list_pets',
    { description: 'List animals in ascending order of id.', required: [], readOnlyHint: true },
    {
      limit: { type: 'integer', minimum: LIMITS.page.min, maximum: LIMITS.page.max, default: LIMITS.page.default },
      status: STATUS,
      after: { ...INTEGER, description: 'Only animals with a greater id: the "next" of the page before.' },
    },
    async ({ limit, status, after }) => {
      const { pets, next } = await catalogue.listPets({ limit, status, after: integer('after', after) });
      return { pets: pets.map(asOutput), next: next === null ? null : String(next) };
    },
  );

  tool(
    'create_pet',
    { description: 'Add an animal.', required: ['name', 'categoryId'], readOnlyHint: false },
    {
      name: { type: 'string', minLength: 1, maxLength: LIMITS.name.maxLength },
      categoryId: INTEGER,
      status: STATUS,
      idempotencyKey: { type: 'string', description: 'The same key and the same animal add it once, however often.' },
    },
    async ({ name, categoryId, status, idempotencyKey: key }) => {
      const newPet = { name, categoryId: integer('categoryId', categoryId), status };
      const { pet } = await catalogue.createPet(newPet, key === undefined ? undefined : { holder: HOLDER, key });
      return asOutput(pet);
    },
  );

  tool(
    'get_pet',
    { description: 'Get an animal by its id.', required: ['id'], readOnlyHint: true },
    { id: INTEGER },
    async ({ id }) => asOutput(await catalogue.getPet(integer('id', id))),
  );

  return server;
}

/** A schema for clients to read. It accepts everything: the domain checks arguments, and its errors name every violation. */
function accepting(schema: Record<string, unknown>): StandardSchemaWithJSON<Arguments> {
  const jsonSchema = { input: () => schema, output: () => schema };
  const validate = (value: unknown) => ({ value: value as Arguments });
  return { '~standard': { version: 1, vendor: 'animal-store', validate, jsonSchema } };
}

/** A double keeps 15 digits: the SDK's JSON.parse may have rounded a number of more digits to this integer. */
const EXACT_BELOW = 1e15;

function integer(name: string, given: unknown): unknown {
  if (typeof given === 'string' && /^-?\d{1,19}$/.test(given)) return BigInt(given);
  if (typeof given !== 'number' || !Number.isInteger(given)) return given;
  if (Math.abs(given) < EXACT_BELOW) return BigInt(given);
  return new Violation(`${name} must be a decimal string if it has more than 15 digits`);
}

function asOutput({ id, categoryId, ...rest }: Pet): Record<string, unknown> {
  return { id: String(id), ...rest, categoryId: String(categoryId) };
}

async function result(
  call: Promise<Record<string, unknown>>,
  reportError: (error: unknown) => void,
): Promise<CallToolResult> {
  try {
    const structuredContent = await call;
    return { structuredContent, content: [{ type: 'text', text: JSON.stringify(structuredContent) }] };
  } catch (error) {
    reportError(error);
    const text = DomainError.is(error) ? error.message : 'unexpected error in the service; it has been logged';
    return { isError: true, content: [{ type: 'text', text }] };
  }
}
