/**
 * A text as it is stored. PostgreSQL's `text` holds every character but NUL: a backslash escapes it, and itself. All
 * other characters are stored as they are, so that texts can be read and searched in SQL.
 */
export function toStored(text: string): string {
  return text.replace(/[\\\0]/g, (character) => (character === '\0' ? '\\0' : '\\\\'));
}

/** The text that was stored. */
export function fromStored(stored: string): string {
  // Nearly no text has one.
  if (!stored.includes('\\')) return stored;
  return stored.replace(/\\([\\0])/g, (_, escaped) => (escaped === '0' ? '\0' : '\\'));
}
