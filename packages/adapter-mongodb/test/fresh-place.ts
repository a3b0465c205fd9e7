export { freshDatabase as freshPlace } from '@animal-store/test-mongodb';
