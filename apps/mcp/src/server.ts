import { type ReportError, readVersion } from '@animal-store/app-kit';
import { DomainError, LIMITS, type Pet } from '@animal-store/domain';
import { type AwaitableCatalogue, Violation } from '@animal-store/domain/transport';
import { type CallToolResult, McpServer } from '@modelcontextprotocol/server';
import { MESSAGES } from './messages.ts';
import { forClients, ID, INTEGER, NAME, objectOf, PET, type Schema, STATUS } from './schemas.ts';

/** The holder of this transport's idempotency keys: no holder of an API key has a name with outer spaces. */
const HOLDER = ' mcp ';

export interface ServerDependencies {
  readonly catalogue: AwaitableCatalogue;
  /** Where the animals are stored, for the client. */
  readonly description: string;
  /** Has the calls in flight. */
  readonly calls: Set<Promise<unknown>>;
  /** Called with the error of each call that fails. */
  readonly reportError: ReportError;
}

/** A tool as clients see it. */
interface Tool {
  readonly title: string;
  readonly description: string;
  readonly arguments: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
  readonly output: Schema;
  readonly readOnly: boolean;
}

type Content = Record<string, unknown>;

/** An MCP server whose tools are the use cases of the catalogue. 64-bit integers are strings of decimal digits. */
export function createServer({ catalogue, description, calls, reportError }: ServerDependencies): McpServer {
  const { version } = readVersion(process.env);
  const server = new McpServer(
    { name: 'animal-store', title: 'Animal Store', version },
    { instructions: MESSAGES.instructions(description) },
  );

  /** @param call Returns the structured content of the result. */
  function register(name: string, tool: Tool, call: (given: Readonly<Content>) => Promise<Content>): void {
    const known = Object.keys(tool.arguments);
    async function respond(given: Readonly<Content>): Promise<CallToolResult> {
      try {
        const unknown = Object.keys(given).filter((each) => !known.includes(each));
        if (unknown.length > 0) throw new DomainError('invalid', MESSAGES.unknownArguments(unknown, known));
        const structuredContent = await call(given);
        return { structuredContent, content: [{ type: 'text', text: JSON.stringify(structuredContent) }] };
      } catch (error) {
        reportError(error);
        const text = DomainError.is(error) ? error.message : MESSAGES.unexpected;
        return { isError: true, content: [{ type: 'text', text }] };
      }
    }
    const { title, description, readOnly } = tool;
    const inputSchema = forClients(objectOf(tool.arguments, tool.required));
    const annotations = {
      readOnlyHint: readOnly,
      destructiveHint: false,
      // A creation without an idempotency key adds another animal each time.
      idempotentHint: readOnly,
      openWorldHint: false,
    };
    const outputSchema = forClients(tool.output);
    server.registerTool(name, { title, description, inputSchema, outputSchema, annotations }, (given) => {
      const called = respond(given);
      calls.add(called);
      return called.finally(() => calls.delete(called));
    });
  }

  register(
    'list_pets',
    {
      title: 'List animals',
      description: 'List animals in ascending order of id, a page at a time.',
      arguments: {
        limit: { type: 'integer', minimum: LIMITS.page.min, maximum: LIMITS.page.max, default: LIMITS.page.default },
        status: STATUS,
        after: { ...ID, description: 'Only animals with a greater id: the "next" of the page before.' },
      },
      required: [],
      output: objectOf(
        {
          pets: { type: 'array', items: PET },
          next: { ...ID, description: 'The "after" of the next page. Absent on the last page.' },
        },
        ['pets'],
      ),
      readOnly: true,
    },
    async ({ limit, status, after }) => {
      const { pets, next } = await catalogue.listPets({
        limit,
        status,
        after: integer('after', after, { ...LIMITS.id, min: 0n }),
      });
      const page = { pets: pets.map(asOutput) };
      return next === null ? page : { ...page, next: String(next) };
    },
  );

  register(
    'create_pet',
    {
      title: 'Add an animal',
      description: 'Add an animal to the catalogue.',
      arguments: {
        name: NAME,
        categoryId: { ...INTEGER, description: 'The category of the animal, a 64-bit integer in decimal digits.' },
        status: STATUS,
        idempotencyKey: {
          type: 'string',
          pattern: LIMITS.idempotencyKey.pattern.source,
          description: 'The same key and the same animal add it once, however often.',
        },
      },
      required: ['name', 'categoryId'],
      output: PET,
      readOnly: false,
    },
    async ({ name, categoryId, status, idempotencyKey: key }) => {
      const newPet = { name, categoryId: integer('categoryId', categoryId, LIMITS.categoryId), status };
      const { pet } = await catalogue.createPet(newPet, key === undefined ? undefined : { holder: HOLDER, key });
      return asOutput(pet);
    },
  );

  register(
    'get_pet',
    {
      title: 'Get an animal',
      description: 'Get an animal by its id.',
      arguments: { id: ID },
      required: ['id'],
      output: PET,
      readOnly: true,
    },
    async ({ id }) => asOutput(await catalogue.getPet(integer('id', id, LIMITS.id))),
  );

  return server;
}

/** A double keeps 15 digits: the SDK's JSON.parse may have rounded a number of more digits to this integer. */
const EXACT_BELOW = 1e15;

/** Converts an integer. Numbers are accepted, too: models forget quotes. */
function integer(name: string, given: unknown, { min, max }: { min: bigint; max: bigint }): unknown {
  if (typeof given === 'string' && /^-?\d+$/.test(given)) return BigInt(given);
  if (typeof given !== 'number' || !Number.isInteger(given)) return given;
  return Math.abs(given) < EXACT_BELOW ? BigInt(given) : new Violation(MESSAGES.inexact(name, min, max));
}

function asOutput({ id, categoryId, ...rest }: Pet): Content {
  return { id: String(id), ...rest, categoryId: String(categoryId) };
}
