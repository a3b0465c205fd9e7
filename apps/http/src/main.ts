import { runApplication } from '@animal-store/app-kit/run-application';

await runApplication('animal-store', 'Serves the catalogue of animals over HTTP.', () => import('./service.ts'));
