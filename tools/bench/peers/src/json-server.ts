// json-server as a module, on a file beside the one that SQLITE_FILE names: its router and middlewares, and the access control of its README.
import { existsSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { RequestHandler } from 'express';
import { listening } from './listening.ts';
import { KEY } from './pets.ts';

const jsonServer = createRequire(import.meta.url)('json-server');
const file = `${process.env['SQLITE_FILE']}.json`;
if (!existsSync(file)) writeFileSync(file, '{"pets":[]}');
const app = jsonServer.create();
app.use(jsonServer.defaults({ logger: false }));
const accessControl: RequestHandler = (request, response, next) => {
  if (request.headers.authorization === `Bearer ${KEY}`) next();
  else response.sendStatus(401);
};
app.use(accessControl);
app.use(jsonServer.router(file));
const server = app.listen(0, '127.0.0.1', () => listening(server));
