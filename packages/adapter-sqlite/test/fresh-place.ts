export { freshFile as freshPlace } from './fresh-file.ts';
