import { KEY } from '@animal-store/test-kit/service';
import type { Add, Call, Find, List, Pet } from './history.ts';

/** A list that a client follows page by page. */
export interface Walk {
  readonly status?: string;
  /** The target of the next page as the service gave it, or of the first page. */
  target: string;
  /** The id after which that page begins. */
  after: number;
}

/** One process of the service, called over HTTP. Every method records its call, and throws if it does not expect a status. */
export interface ServiceClient {
  add(pet: Omit<Pet, 'id'>, key?: string): Promise<Add>;
  find(id: number): Promise<Find>;
  list(walk: Walk): Promise<List>;
}

/** The service takes less for any request. In milliseconds. */
const TIMEOUT = 10_000;

export function createServiceClient(url: string): ServiceClient {
  /** Not sent: the service does not listen. Unknown: it may have been executed. */
  async function send(target: string, { headers, ...init }: RequestInit): Promise<Reply | 'not sent' | 'unknown'> {
    try {
      const response = await fetch(new URL(target, url), {
        headers: { authorization: `Bearer ${KEY}`, ...headers },
        signal: AbortSignal.timeout(TIMEOUT),
        ...init,
      });
      const reply = { status: response.status, text: await response.text(), link: response.headers.get('link') ?? '' };
      return reply.status === 503 ? 'unknown' : reply;
    } catch (error) {
      const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
      return code === 'ECONNREFUSED' ? 'not sent' : 'unknown';
    }
  }

  async function call<T>(target: string, read: (reply: Reply) => T, init: RequestInit = {}): Promise<Call<T>> {
    const invoked = performance.now();
    const reply = await send(target, init);
    const failure = reply === 'unknown' && init.method === 'POST' ? 'unknown' : 'failed';
    return { invoked, completed: performance.now(), result: typeof reply === 'string' ? failure : read(reply) };
  }

  return {
    async add(pet, key) {
      const sent = { ...pet, ...(key && { key }) };
      const headers = { 'content-type': 'application/json', ...(key && { 'idempotency-key': key }) };
      const init = { method: 'POST', headers, body: JSON.stringify({ ...pet, categoryId: 1 }) };
      return { type: 'add', ...sent, ...(await call('/v1/pets', (reply) => petOf(jsonOf(reply, 201)), init)) };
    },

    async find(id) {
      const read = (reply: Reply) => (reply.status === 404 ? null : petOf(jsonOf(reply, 200)));
      return { type: 'find', id, ...(await call(`/v1/pets/${id}`, read)) };
    },

    async list({ target, ...selection }) {
      const read = (reply: Reply) => {
        const [, next = null] = /<([^>]+)>; rel="next"/.exec(reply.link) ?? [];
        return { pets: jsonOf<Pet[]>(reply, 200).map(petOf), next };
      };
      return { type: 'list', ...selection, ...(await call(target, read)) };
    },
  };
}

interface Reply {
  readonly status: number;
  readonly text: string;
  readonly link: string;
}

function jsonOf<T = Pet>(reply: Reply, status: number): T {
  if (reply.status !== status) throw new Error(`${reply.status} instead of ${status}: ${reply.text}`);
  return JSON.parse(reply.text);
}

const petOf = ({ id, name, status }: Pet): Pet => (status === undefined ? { id, name } : { id, name, status });
