import type { ApiKey } from '@animal-store/domain';

/** The ends of an import: how many pets are in, and how to go on. */
const inStorage = (pets: number) => (pets === 0 ? 'no pet was imported' : `${pets} pets of the input are imported`);

/** A line for an audit: date, event, key and holder. */
const keyEvent = (event: string, date: number | null, { id, holder }: ApiKey) =>
  `${new Date(date ?? 0).toISOString()} ${event} API key ${id} of ${JSON.stringify(holder)}`;

/** The messages to the user. Those about the members of a pet or of an API key are the domain's. */
export const MESSAGES = {
  waitingForInput: (format: string, example: string) =>
    `reading ${format} from the terminal, as in ${example}. Ctrl-D on an empty line ends the input, Ctrl-C cancels.`,

  isFolder: 'it is a folder',
  becameShorter: 'the file became shorter while it was read',
  temporaryFile: (reason: string) => `the input can't be copied to a temporary file: ${reason}; set TMPDIR`,

  firstLine: (reason: string) => `the first line can't be read: ${reason}`,
  isCompressed: 'it is compressed: pipe it through gunzip, as in gunzip -c FILE | animal-store pets import',
  isSpreadsheet: 'it is a spreadsheet or an archive: save the sheet as CSV in UTF-8',
  isJsonArray: "it is one JSON array: pipe its elements, as in jq -c '.[]' FILE | animal-store pets import",
  isIndentedJson: 'its JSON objects have several lines: pipe them, as in jq -c . FILE | animal-store pets import',
  isCsv: 'it is CSV: add --format csv',
  isNdjson: 'it is JSON: add --format ndjson',

  nothingImported: 'nothing was imported: correct the lines above, and repeat the command',
  checkEnded: (errors: number) =>
    `nothing was imported, and the check ended here, after ${errors} errors: correct the lines above, and repeat the command`,
  otherPetImported: 'another pet was imported under this --import-id and line number',
  stopped: (pets: number) => `stopped: ${inStorage(pets)}; to continue, correct the line above and repeat the command`,
  skipped:
    'the lines above were not imported: correct them in a file of their own, because a file with another content is another import',
  skippedUnderId: 'the lines above were not imported: correct them, and repeat the command with the same --import-id',
  failed: (reason: string, pets: number) =>
    `${reason}; ${inStorage(pets)}; to continue, repeat the command with the same input`,
  interrupted: (signal: string, pets: number) => MESSAGES.failed(`interrupted by ${signal}`, pets),
  repeated:
    'every pet of the input had been imported before, and none was created again; to create them once more, name another --import-id',

  keyIssued: (key: ApiKey) => keyEvent('issued', key.createdAt, key),
  keyRevoked: (key: ApiKey) => keyEvent('revoked', key.revokedAt, key),
};
