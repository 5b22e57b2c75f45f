import { CommandFailed } from '@plinth/server/process/command-failed.js';
import { type Connection, call } from '../connection.js';
import { allItems, type Item } from './pages.js';

/** Maximum number of ids listed for an ambiguous name. */
const MAX_LISTED = 20;
/** Maximum number of items searched by name. */
const MAX_SEARCHED_COUNT = 10_000;

/**
 * Returns the id of the only item named `name`. Throws if the item does not exist or is not unique. For several items,
 * the message lists their ids, because a command must not guess which item to change.
 */
export async function idOfName(
  items: AsyncIterable<Item>,
  options: {
    readonly what: string;
    readonly name: string;
    /** The command that lists the items. */
    readonly list: string;
    names(item: Item): readonly unknown[];
  },
): Promise<string> {
  const found: string[] = [];
  let count = 0;
  for await (const item of items) {
    if (options.names(item).includes(options.name)) found.push(String(item['id']));
    count += 1;
    if (count === MAX_SEARCHED_COUNT) {
      throw new CommandFailed(
        `cannot look up ${options.what} "${options.name}" by name, because there are more than ${MAX_SEARCHED_COUNT} ${options.what}s; use the id`,
      );
    }
  }
  const [id, ...others] = found;
  if (id === undefined) {
    throw new CommandFailed(
      `${options.what} "${options.name}" not found; list the ${options.what}s with \`${options.list}\``,
    );
  }
  if (others.length === 0) return id;
  const more = found.length > MAX_LISTED ? ` and ${found.length - MAX_LISTED} more` : '';
  throw new CommandFailed(
    `${options.what} name "${options.name}" is not unique (${found.length} matches); use an id: ${found.slice(0, MAX_LISTED).join(', ')}${more}`,
  );
}

export const APPS = 'ops/v1/apps';

/**
 * Resolves an app by id, client id or unique name to an identifier that the operator API accepts. An id takes
 * precedence over an equal name.
 */
export async function appOf(connection: Connection, name: string): Promise<string> {
  if (/^\d+$/.test(name)) return name;
  const response = await call(connection, `${APPS}/${encodeURIComponent(name)}`);
  await response.body?.cancel();
  if (response.status !== 404) return name; // The name is a client id. The next request reports any other error.
  return await idOfName(
    allItems(connection, APPS, ({ id }) => id),
    { what: 'app', name, list: 'plinth app list', names: ({ name }) => [name] },
  );
}
