import type { ApiKey } from '@animal-store/domain';

/** The advice for records that were not imported: without --import-id the content of a file identifies an import. */
const correct = (it: string, its: string, hasImportId: boolean) =>
  hasImportId
    ? `correct ${it}, and repeat the command with the same --import-id`
    : `correct ${it} in a file of ${its} own, because a file with another content is another import`;

/** A line for an audit: date, event, key and holder. */
const keyEvent = (event: string, date: number | null, { id, holder }: ApiKey) =>
  `${new Date(date ?? 0).toISOString()} ${event} API key ${id} of ${JSON.stringify(holder)}`;

/** The messages to the user. Those about the members of a pet or of an API key are the domain's. */
export const MESSAGES = {
  usageHint: 'Add --help for usage and an example.',
  unavailable: (location: string, reason: string) => `the storage at ${location} is unavailable: ${reason}`,
  output: (reason: string) => `the output can't be written: ${reason}`,

  waitingForInput: (format: string, example: string) =>
    `reading ${format} from the terminal, as in ${example}. Ctrl-D on an empty line ends the input, Ctrl-C cancels.`,

  becameShorter: 'the file became shorter while it was read',
  temporaryFile: (reason: string) => `the input can't be copied to a temporary file: ${reason}; set TMPDIR`,

  notUtf8: 'not UTF-8',
  tooLong: (limit: string) => `longer than ${limit}`,
  quoteNotClosed: 'a quote is not closed',
  recordNotEnded: (line: number, limit: string) =>
    `line ${line}: the record does not end within ${limit}, perhaps because a quote is not closed; the rest is not read`,
  quoteInField: 'a field with a quote must be in quotes, each quote in it doubled',
  textAfterQuote: 'a field goes on after its closing quote',
  fieldCount: (fields: number, columns: number) => `it has ${fields} fields, the header has ${columns}`,
  columnsMissing: (line: string) => `the first line must name the columns name and categoryId, was ${line}`,
  columnTwice: (column: string, line: string) => `the first line must name the column ${column} once, was ${line}`,
  firstLine: (reason: string) => `the first line can't be read: ${reason}`,
  isCompressed: 'it is compressed: pipe it through gunzip, as in gunzip -c FILE | animal-store pets import',
  isSpreadsheet: 'it is a spreadsheet or an archive: save the sheet as CSV in UTF-8',
  isJsonArray: "it is one JSON array: pipe its elements, as in jq -c '.[]' FILE | animal-store pets import",
  isIndentedJson: 'its JSON objects have several lines: pipe them, as in jq -c . FILE | animal-store pets import',
  isCsv: 'it is CSV: add --format csv',
  isNdjson: 'it is JSON: add --format ndjson',

  importId: 'It must be 1 to 100 visible ASCII characters.',
  nothingImported: 'nothing was imported: correct the lines above, and repeat the command',
  checkEnded: (errors: number) =>
    `nothing was imported, and the check ended here, after ${errors} errors: correct the lines above, and repeat the command`,
  otherPetImported: 'another pet was imported under this --import-id and line number',
  stopped: (pets: number) =>
    `stopped; pets imported so far: ${pets}; to continue, correct the line above and repeat the command`,
  skipped: (hasImportId: boolean) => `the lines above were not imported: ${correct('them', 'their', hasImportId)}`,
  unreadable: (reason: string, pets: number, hasImportId: boolean) =>
    `${reason}; pets imported so far: ${pets}; to continue, ${correct('the rest', 'its', hasImportId)}`,
  failed: (reason: string, pets: number) =>
    `${reason}; pets imported so far: ${pets}; to continue, repeat the command with the same input`,
  interrupted: (signal: string) => `interrupted by ${signal}`,
  repeated:
    'every pet of the input had been imported before, and none was created again; to create them once more, name another --import-id',

  expiresIn: (max: number, given: number | string) =>
    `expires-in must be a number of days from 1 to ${max}, was ${given}`,
  keyIssued: (key: ApiKey) => keyEvent('issued', key.createdAt, key),
  keyRevoked: (key: ApiKey) => keyEvent('revoked', key.revokedAt, key),
};
