/** @module @animal-store/mcp-tools */

import { type Catalogue, DomainError, type NewPet, type Pet, type PetQuery } from '@animal-store/domain';
import { type CallToolResult, fromJsonSchema, type JsonSchemaType, McpServer } from '@modelcontextprotocol/server';
import { MESSAGES } from './messages.ts';
import { ID, IDEMPOTENCY_KEY, NEXT, objectOf, PAGE_ARGUMENTS, PET, PET_ARGUMENTS } from './schemas.ts';

export { parseMessage, rejectSubscription, restoreId } from './message-id.ts';

export interface McpServerOptions {
  readonly catalogue: Catalogue;
  /** Whose idempotency keys the client's are. */
  readonly holder: string;
  readonly version: string;
  /** Where the pets are stored, for the instructions of the client. Absent: they don't say it. */
  readonly storage?: string;
  /** Called after each call of a tool: with its error, or undefined. */
  readonly onCall: (tool: string, error: unknown) => void;
}

/** A tool as clients see it. */
interface Tool<Input> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** For the client and its model. Other arguments are an error; use cases check the values, and their messages say more. */
  readonly input: ReturnType<typeof objectOf>;
  readonly output: JsonSchemaType;
  readonly readOnly: boolean;
  /** Returns the structured content of the result. */
  run(given: Input, catalogue: Catalogue, holder: string): Promise<Content>;
}

type Content = Record<string, unknown>;

/** Prepares the schemas, which takes longer than a call. */
function tool<Input extends object>({ name, run, title, description, input, output, readOnly }: Tool<Input>) {
  const annotations = {
    readOnlyHint: readOnly,
    destructiveHint: false,
    // A creation without an idempotency key adds another animal each time.
    idempotentHint: readOnly,
    openWorldHint: false,
  };
  const names = Object.keys(input.properties);
  const { '~standard': standard } = fromJsonSchema<object>(input);
  // The SDK reports arguments that it rejects to the client alone, not to `onCall`.
  const inputSchema = {
    '~standard': { ...standard, validate: (value: unknown) => ({ value: Object(value) as object }) },
  };
  const definition = { title, description, annotations, inputSchema, outputSchema: fromJsonSchema<Content>(output) };
  async function call(given: object, catalogue: Catalogue, holder: string): Promise<Content> {
    const other = Object.keys(given).find((argument) => !names.includes(argument));
    if (other !== undefined) throw new DomainError('invalid', MESSAGES.unknownArgument(name, other, names));
    return run(given as Input, catalogue, holder).catch((error) => Promise.reject(inArguments(error, given)));
  }
  return { name, call, definition };
}

type Integers<T> = { [K in keyof T]-?: T[K] extends bigint | undefined ? K : never }[keyof T];

/** The arguments that are strings of digits. */
const INTEGERS: Readonly<Record<Integers<Pet> | Integers<PetQuery>, true>> = {
  id: true,
  categoryId: true,
  after: true,
};

/** The argument of a use case with strings of digits in place of its bigints. */
type Digits<T> = { readonly [K in keyof T]: T[K] extends bigint | undefined ? string : T[K] };

const TOOLS = [
  tool<Digits<PetQuery>>({
    name: 'list_pets',
    title: 'List animals',
    description: 'List animals in ascending order of id, a page at a time.',
    input: objectOf([], PAGE_ARGUMENTS),
    output: objectOf(['pets'], { pets: { type: 'array', items: PET }, next: NEXT }),
    readOnly: true,
    async run({ after, ...query }, catalogue) {
      const { pets, next } = await catalogue.listPets({ ...query, after: integer(after) });
      return { pets: pets.map(asOutput), ...(next !== null && { next: String(next) }) };
    },
  }),
  tool<Digits<NewPet> & { readonly idempotencyKey?: string }>({
    name: 'create_pet',
    title: 'Add an animal',
    description: 'Add an animal to the catalogue.',
    input: objectOf(['name', 'categoryId'], { ...PET_ARGUMENTS, idempotencyKey: IDEMPOTENCY_KEY }),
    output: PET,
    readOnly: false,
    async run({ categoryId, idempotencyKey: key, ...rest }, catalogue, holder) {
      const newPet = { ...rest, categoryId: integer(categoryId) };
      const { pet } = await catalogue.createPet(newPet, key === undefined ? undefined : { holder, key });
      return asOutput(pet);
    },
  }),
  tool<{ id: string }>({
    name: 'get_pet',
    title: 'Get an animal',
    description: 'Get an animal by its id.',
    input: objectOf(['id'], { id: ID }),
    output: PET,
    readOnly: true,
    run: async ({ id }, catalogue) => asOutput(await catalogue.getPet(integer(id))),
  }),
];

/** An MCP server whose tools are the use cases of the catalogue. 64-bit integers are strings of decimal digits. */
export function createMcpServer({ catalogue, holder, version, storage, onCall }: McpServerOptions): McpServer {
  const instructions = [MESSAGES.instructions, ...(storage === undefined ? [] : [MESSAGES.storage(storage)])].join(' ');
  const options = { instructions, capabilities: { tools: { listChanged: false } } };
  const server = new McpServer({ name: 'animal-store', title: 'Animal Store', version }, options);
  for (const { name, call, definition } of TOOLS) {
    server.registerTool(name, definition, async (given): Promise<CallToolResult> => {
      try {
        const structuredContent = await call(given, catalogue, holder);
        onCall(name, undefined);
        return { structuredContent, content: [{ type: 'text', text: JSON.stringify(structuredContent) }] };
      } catch (error) {
        onCall(name, error);
        const text = DomainError.is(error) ? error.message : MESSAGES.unexpected;
        return { isError: true, content: [{ type: 'text', text }] };
      }
    });
  }
  return server;
}

/** An argument of decimal digits, or a number, which some clients make of them. The use case rejects anything else. */
function integer(given: unknown): bigint {
  const value = Number.isSafeInteger(given) ? String(given) : given;
  return (typeof value === 'string' && /^-?\d+$/.test(value) ? BigInt(value) : given) as bigint;
}

/** The error of a use case, which knows integers only, in terms of the arguments that are their digits. */
function inArguments(error: unknown, given: object): unknown {
  if (!DomainError.is(error) || error.code !== 'invalid') return error;
  const violations = error.violations.map(({ field, message }) => {
    const value = (given as Record<string, unknown>)[field];
    const isDigits = !Object.hasOwn(INTEGERS, field) || value === undefined || typeof integer(value) === 'bigint';
    return { field, message: isDigits ? message : MESSAGES.notDigits(field, value) };
  });
  return new DomainError('invalid', violations.map(({ message }) => message).join('; '), { violations });
}

function asOutput(pet: Pet): Content {
  return Object.fromEntries(
    Object.entries(pet).map(([name, value]) => [name, typeof value === 'bigint' ? String(value) : value]),
  );
}
