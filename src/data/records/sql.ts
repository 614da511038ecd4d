/** A text as an SQL literal. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** A name as an SQL identifier. */
export const named = (name: string): string => `"${name.replaceAll('"', '""')}"`;
