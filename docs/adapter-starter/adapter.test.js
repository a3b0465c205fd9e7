import { adapter } from '@acme/animal-store-shelves';
import { storageContract } from '@animal-store/adapter-contract';

storageContract('shelves', {
  freshPlace: () => `shelf:${crypto.randomUUID()}`,
  open: (shelf) => adapter.open(shelf),
  misconfiguredPlaces: () => ['zoo'],
  outages: 'not tested',
});
