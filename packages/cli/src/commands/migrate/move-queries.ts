import type { Connection } from '../connection.js';
import { quoted } from '../input/line-text.js';
import { print } from '../output/terminal.js';
import { runStatement } from '../rows/send-chunks.js';
import { type OldNames, unquote } from './old-names.js';
import type { PortableBackup } from './portable-backup.js';
import { tried } from './tried.js';

/** A continuous query of a backup, with the names of this server. */
export interface PlannedQuery {
  readonly database: string;
  readonly name: string;
  /** The CREATE statement. */
  readonly text: string;
}

/** Returns the continuous queries of a backup. */
export function planQueries(
  { databases }: PortableBackup,
  names: OldNames,
): readonly PlannedQuery[] {
  return databases.flatMap(({ name: database, continuousQueries }) =>
    continuousQueries.map(({ name, query }) => ({ database, name, text: renamed(query, names) })),
  );
}

/** Creates the queries. Prints the rejected ones, and continues with the others. */
export async function moveQueries(
  queries: readonly PlannedQuery[],
  connection: Connection,
  { dryRun }: { readonly dryRun?: true },
): Promise<void> {
  for (const { database, name, text } of queries) {
    const title = `continuous query ${name} of ${database}`;
    if (dryRun) print(`${title} would be created:\n  ${text}\n`);
    else if (await tried(() => runStatement(text, connection))) print(`${title} created\n`);
  }
}

const NAME = String.raw`(?:"(?:[^"\\]|\\.)*"|[A-Za-z_]\w*)`;
const HEAD = new RegExp(String.raw`^(\s*CREATE CONTINUOUS QUERY ${NAME} ON )(${NAME})`, 'i');
/** Skips strings and regular expressions. InfluxDB 1.x stores each measurement with its database and policy. */
const MEASUREMENT = new RegExp(
  String.raw`'(?:[^'\\]|\\.)*'|(?<=(?:FROM|BY|[=!]~|[.,(])\s*)/(?:[^/\\]|\\.)+/|(${NAME})\.(${NAME})\.(?=["A-Za-z_/:])`,
  'gi',
);

/** Replaces the names of databases and retention policies in a statement. */
function renamed(query: string, names: OldNames): string {
  const head = HEAD.exec(query);
  if (head === null) return query;
  const [start, create = '', on = ''] = head;
  const rest = query
    .slice(start.length)
    .replace(MEASUREMENT, (all: string, database?: string, policy = '') =>
      database === undefined ? all : placeOf(unquote(database), unquote(policy), names),
    );
  return `${create}${quoted(names.database(unquote(on)) ?? unquote(on))}${rest}`;
}

function placeOf(database: string, policy: string, names: OldNames): string {
  const here = names.database(database) ?? database;
  return `${quoted(here)}.${quoted(names.policy(database, policy) ?? policy)}.`;
}
