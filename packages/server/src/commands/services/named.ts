import { type Connection, call } from '../connection.js';
import { CommandFailed } from '../output/exit.js';
import { allItems, type Item } from './pages.js';

/** More ids of one name are not listed. */
const MAX_LISTED = 20;
/** What is looked through for a name; beyond it an id has to be said. */
const MAX_LOOKED_AT = 10_000;

/**
 * The id of the one thing that is called `said`. Throws when there is none, and with the ids of all when there are several: a command
 * that changes something must not guess.
 */
export async function idOfName(
  items: AsyncIterable<Item>,
  at: {
    readonly what: string;
    readonly said: string;
    /** The command that shows what there is. */
    readonly list: string;
    names(item: Item): readonly unknown[];
  },
): Promise<string> {
  const found: string[] = [];
  let count = 0;
  for await (const item of items) {
    if (at.names(item).includes(at.said)) found.push(String(item['id']));
    count += 1;
    if (count === MAX_LOOKED_AT) {
      throw new CommandFailed(
        `${at.what} ${at.said}: there are more than ${MAX_LOOKED_AT} to look through for a name; say the id`,
      );
    }
  }
  const [id, ...others] = found;
  if (id === undefined) {
    throw new CommandFailed(
      `there is no ${at.what} ${at.said}; \`${at.list}\` shows what there is`,
    );
  }
  if (others.length === 0) return id;
  const more = found.length > MAX_LISTED ? ` and ${found.length - MAX_LISTED} more` : '';
  throw new CommandFailed(
    `${found.length} have the name ${at.said}; say which by its id: ${found.slice(0, MAX_LISTED).join(', ')}${more}`,
  );
}

export const APPS = 'ops/v1/apps';

/**
 * What the operator's interface calls an app: its id or client id as they are, or the id of the only app of that name. What could be an
 * id is one, also where an app is named so.
 */
export async function appOf(connection: Connection, said: string): Promise<string> {
  if (/^\d+$/.test(said)) return said;
  const answer = await call(connection, `${APPS}/${encodeURIComponent(said)}`);
  await answer.body?.cancel();
  if (answer.status !== 404) return said; // A client id; whatever else is wrong is told by what the command asks next.
  return await idOfName(
    allItems(connection, APPS, ({ id }) => id),
    { what: 'app', said, list: 'plinth app list', names: ({ name }) => [name] },
  );
}
