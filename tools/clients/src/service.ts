import { KEY, type Service, startService } from '@animal-store/test-kit/service';

/** A service for clients, with its pets in memory. */
export interface ServiceForClients extends Service {
  /** The OpenAPI document as the service returns it. */
  readonly document: string;
  /** The variables that every example and every program reads. */
  readonly environment: { readonly BASE_URL: string; readonly API_KEY: string };
}

export async function startServiceForClients(): Promise<ServiceForClients> {
  const service = await startService();
  const response = await fetch(new URL('/openapi.json', service.url));
  return { ...service, document: await response.text(), environment: { BASE_URL: service.url, API_KEY: KEY } };
}
