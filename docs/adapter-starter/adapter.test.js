import { openShelf } from '@acme/animal-store-shelves';
import { archiveContract, behindProxy, storageContract } from '@animal-store/adapter-contract';
import { startEngine } from './engine.js';

const PASSWORD = 'open-sesame';
const engine = await startEngine(PASSWORD);
const anotherEngine = await startEngine(PASSWORD);
const module = import.meta.resolve('@acme/animal-store-shelves');
const newShelf = () => `${engine.url}/${crypto.randomUUID()}`;
const pathOf = (shelf) => new URL(shelf.url).pathname;

const proxied = behindProxy({
  freshPlace: newShelf,
  open: openShelf,
  inAnotherProcess: (shelf) => ({ module, name: 'openShelf', options: shelf }),
  twin: (shelf) => `${anotherEngine.url}${new URL(shelf).pathname}`,
  misconfiguredPlaces: (shelf) => [shelf.replace(PASSWORD, `${PASSWORD}-of-another`)],
});

const responding = (status) => ({
  leaves: 'nothing',
  begin: (shelf) => void engine.statuses.set(pathOf(shelf), status),
  end: (shelf) => void engine.statuses.delete(pathOf(shelf)),
});

/** Takes away what the engine has at a path, and puts it back. */
function losing(lose, line) {
  const lost = new Map();
  return {
    begin(shelf) {
      lost.set(shelf, engine.places.get(pathOf(shelf)));
      lose(pathOf(shelf));
    },
    end: (shelf) => void engine.places.set(pathOf(shelf), lost.get(shelf)),
    leaves: 'nothing',
    line,
  };
}

const gates = new Map();
const locked = {
  leaves: 'nothing',
  begin(shelf) {
    gates.set(shelf, Promise.withResolvers());
    engine.gates.set(pathOf(shelf), gates.get(shelf).promise);
  },
  end: (shelf) => gates.get(shelf).resolve(),
};

const adapter = {
  ...proxied,
  secrets: [PASSWORD],
  interruptions: {
    ...proxied.interruptions,
    throttled: responding(429),
    'credentials expired': responding(401),
    'no right to write': responding(403),
    'server errors': responding(500),
    locked,
    removed: losing((path) => engine.places.delete(path), /no such shelf/),
    'made anew': losing((path) => engine.places.set(path, engine.newPlace()), /not the one that this process has used/),
  },
  operator: {
    deletePet(shelf, id) {
      const { items, keys } = engine.places.get(pathOf(shelf));
      const [key] = [...items].find(([key, item]) => key.startsWith('pet/') && item.id === String(id));
      keys.splice(keys.indexOf(key), +items.delete(key));
    },
    setCounterBack: (shelf) => engine.places.get(pathOf(shelf)).counters.clear(),
  },
};

storageContract('shelves', adapter);
archiveContract('shelves', adapter);
