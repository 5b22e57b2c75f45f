import { type Connection, callOk } from '../connection.js';

export type Item = Readonly<Record<string, unknown>>;

/** Yields all items of an operator API list, page by page. @param keyOf the cursor for the page after an item */
export async function* allItems(
  connection: Connection,
  path: string,
  keyOf: (last: Item) => unknown,
): AsyncGenerator<Item> {
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const query = { per_page: '100', ...(cursor !== '' && { cursor }) };
    const response: Response = await callOk(connection, path, { query });
    const items = (await response.json()) as readonly Item[];
    yield* items;
    const last = items.at(-1);
    const hasNext = response.headers.get('link')?.includes('rel="next"') === true;
    cursor = hasNext && last !== undefined ? String(keyOf(last)) : undefined;
  }
}

export async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
