import { KEY } from '@animal-store/test-kit/service';
import type { Page, Pet } from './history.ts';

/** Failed: the request was not sent, because the service does not listen. Unknown: it may have been executed. */
type Result<T> = T | 'failed' | 'unknown';

/** One process of the service, called over HTTP. Every method throws if a status is not one that it expects. */
export interface ServiceClient {
  add(pet: { name: string; status?: string }, key?: string): Promise<Result<Pet>>;
  find(id: number): Promise<Pet | null | 'failed'>;
  /** @param target The target of a page as the service gave it, or of the first page. */
  list(target: string): Promise<(Page & { next: string | null }) | 'failed'>;
}

/** The service takes less for any request. In milliseconds. */
const TIMEOUT = 10_000;

export function createServiceClient(url: string): ServiceClient {
  async function call(method: string, target: string, headers = {}, body?: string): Promise<Result<Reply>> {
    try {
      const response = await fetch(new URL(target, url), {
        method,
        headers: { authorization: `Bearer ${KEY}`, ...headers },
        signal: AbortSignal.timeout(TIMEOUT),
        ...(body !== undefined && { body }),
      });
      const reply = { status: response.status, text: await response.text(), link: response.headers.get('link') ?? '' };
      return reply.status === 503 ? 'unknown' : reply;
    } catch (error) {
      const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
      return code === 'ECONNREFUSED' ? 'failed' : 'unknown';
    }
  }

  return {
    async add(pet, key) {
      const headers = { 'content-type': 'application/json', ...(key && { 'idempotency-key': key }) };
      const reply = await call('POST', '/v1/pets', headers, JSON.stringify({ ...pet, categoryId: 1 }));
      return typeof reply === 'string' ? reply : petIn(expectStatus(reply, 201));
    },

    async find(id) {
      const reply = await call('GET', `/v1/pets/${id}`);
      if (typeof reply === 'string') return 'failed';
      return reply.status === 404 ? null : petIn(expectStatus(reply, 200));
    },

    async list(target) {
      const reply = await call('GET', target);
      if (typeof reply === 'string') return 'failed';
      const pets = (JSON.parse(expectStatus(reply, 200).text) as Pet[]).map(petOf);
      const [, next = null] = /<([^>]+)>; rel="next"/.exec(reply.link) ?? [];
      return { pets, isLast: next === null, next };
    },
  };
}

interface Reply {
  readonly status: number;
  readonly text: string;
  readonly link: string;
}

function expectStatus(reply: Reply, status: number): Reply {
  if (reply.status !== status) throw new Error(`${reply.status} instead of ${status}: ${reply.text}`);
  return reply;
}

const petIn = ({ text }: Reply): Pet => petOf(JSON.parse(text) as Pet);

const petOf = ({ id, name, status }: Pet): Pet => (status === undefined ? { id, name } : { id, name, status });
