import { readVersion } from '@animal-store/app-kit';
import { type Catalogue, DomainError, type Pet, type PetStatus } from '@animal-store/domain';
import { type CallToolResult, fromJsonSchema, type JsonSchemaType, McpServer } from '@modelcontextprotocol/server';
import { MESSAGES } from './messages.ts';
import { AFTER, ID, IDEMPOTENCY_KEY, LIMIT, NEW_PET, NEXT, objectOf, PET, STATUS } from './schemas.ts';

/** The holder of this transport's idempotency keys: no holder of an API key has a name with outer spaces. */
const HOLDER = ' mcp ';

export interface ServerDependencies {
  readonly catalogue: Catalogue;
  /** Where the animals are stored, for the client. */
  readonly description: string;
  /** Called with the error of each call that fails. */
  readonly reportError: (error: unknown) => void;
}

/** A tool as clients see it. */
interface Tool {
  readonly title: string;
  readonly description: string;
  /** The SDK rejects other arguments before the call. */
  readonly input: JsonSchemaType;
  readonly output: JsonSchemaType;
  readonly readOnly: boolean;
}

type Content = Record<string, unknown>;

/** An MCP server whose tools are the use cases of the catalogue. 64-bit integers are strings of decimal digits. */
export function createServer({ catalogue, description, reportError }: ServerDependencies): McpServer {
  const { version } = readVersion(process.env);
  const server = new McpServer(
    { name: 'animal-store', title: 'Animal Store', version },
    { instructions: MESSAGES.instructions(description) },
  );

  /** @param call Returns the structured content of the result. */
  function register<Input>(name: string, tool: Tool, call: (given: Input) => Promise<Content>): void {
    const { title, description, input, output, readOnly } = tool;
    const annotations = {
      readOnlyHint: readOnly,
      destructiveHint: false,
      // A creation without an idempotency key adds another animal each time.
      idempotentHint: readOnly,
      openWorldHint: false,
    };
    const schemas = { inputSchema: fromJsonSchema<Input>(input), outputSchema: fromJsonSchema<Content>(output) };
    server.registerTool(
      name,
      { title, description, annotations, ...schemas },
      async (given): Promise<CallToolResult> => {
        try {
          const structuredContent = await call(given);
          return { structuredContent, content: [{ type: 'text', text: JSON.stringify(structuredContent) }] };
        } catch (error) {
          reportError(error);
          const text = DomainError.is(error) ? error.message : MESSAGES.unexpected;
          return { isError: true, content: [{ type: 'text', text }] };
        }
      },
    );
  }

  register<{ limit?: number; status?: PetStatus; after?: string }>(
    'list_pets',
    {
      title: 'List animals',
      description: 'List animals in ascending order of id, a page at a time.',
      input: objectOf([], { limit: LIMIT, status: STATUS, after: AFTER }),
      output: objectOf(['pets'], { pets: { type: 'array', items: PET }, next: NEXT }),
      readOnly: true,
    },
    async ({ after, ...query }) => {
      const { pets, next } = await catalogue.listPets({ ...query, after: BigInt(after ?? 0) });
      return { pets: pets.map(asOutput), ...(next !== null && { next: String(next) }) };
    },
  );

  register<{ name: string; categoryId: string; status?: PetStatus; idempotencyKey?: string }>(
    'create_pet',
    {
      title: 'Add an animal',
      description: 'Add an animal to the catalogue.',
      input: objectOf(['name', 'categoryId'], { ...NEW_PET, idempotencyKey: IDEMPOTENCY_KEY }),
      output: PET,
      readOnly: false,
    },
    async ({ categoryId, idempotencyKey: key, ...rest }) => {
      const newPet = { ...rest, categoryId: BigInt(categoryId) };
      const { pet } = await catalogue.createPet(newPet, key === undefined ? undefined : { holder: HOLDER, key });
      return asOutput(pet);
    },
  );

  register<{ id: string }>(
    'get_pet',
    {
      title: 'Get an animal',
      description: 'Get an animal by its id.',
      input: objectOf(['id'], { id: ID }),
      output: PET,
      readOnly: true,
    },
    async ({ id }) => asOutput(await catalogue.getPet(BigInt(id))),
  );

  return server;
}

function asOutput({ id, categoryId, ...rest }: Pet): Content {
  return { id: String(id), ...rest, categoryId: String(categoryId) };
}
