export { freshDatabaseFile as freshPlace } from '@animal-store/test-kit/fresh-folder';
