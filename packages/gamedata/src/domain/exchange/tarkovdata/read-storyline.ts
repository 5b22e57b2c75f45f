import { isObject } from '@plinth/kernel';
import { normalText, slugOf } from '../../../model/normal-text.js';
import { ID, linkOf, type Raw, type Reading, textOf } from './reading.js';

export function readStoryline(reading: Reading): void {
  const file = 'storyline.json';
  const value = reading.files.get(file);
  if (value === undefined) return;
  if (!isObject(value) || !isObject(value['chapters'])) {
    throw reading.wrong(file, '/chapters', 'expected an object with chapters');
  }
  const { chapters, ...rest } = value;
  for (const [index, [key, raw]] of Object.entries(chapters as Raw).entries()) {
    const path = `/chapters/${key}`;
    if (!isObject(raw)) throw reading.wrong(file, path, 'expected an object');
    const id = String(raw['id'] ?? slugOf(key));
    const seen = new Set<string>();
    const objective = (isOptional: boolean) => (entry: unknown, at: number) => {
      const own: Raw = isObject(entry) ? { ...entry } : { description: String(entry) };
      let objectiveId = String(own['id'] ?? `${isOptional ? 'optional' : 'main'}-${at + 1}`);
      if (!ID.test(objectiveId) || seen.has(objectiveId)) {
        objectiveId = `${isOptional ? 'optional' : 'main'}-${at + 1}`;
      }
      seen.add(objectiveId);
      const { description } = own;
      return {
        ...own,
        id: objectiveId,
        type: textOf(own['type']).slice(0, 64) || 'other',
        description: typeof description === 'string' ? description : null,
        optional: isOptional,
      };
    };
    const lists = [raw['objectives'], raw['optionalObjectives']].map((list) =>
      Array.isArray(list) ? list : [],
    );
    const [main = [], optional = []] = lists;
    reading.add('storyline', file, path, {
      id: ID.test(id) ? id : slugOf(key),
      order: index + 1,
      name: textOf(raw['name']) || key,
      description: textOf(raw['description']),
      details: textOf(raw['note']) || null,
      mapIds: namedIn(main, reading.mapNames),
      relatedCharacters: namedIn(main, reading.traderNames).map((traderId) => ({
        id: traderId,
      })),
      objectives: [...main.map(objective(false)), ...optional.map(objective(true))],
      rewards: (Array.isArray(raw['rewards']) ? raw['rewards'] : []).map((reward: unknown) =>
        isObject(reward)
          ? { ...reward, type: textOf(reward['type']).slice(0, 64) || 'other' }
          : { type: 'text', text: String(reward) },
      ),
      branches: isObject(raw['branches']) ? raw['branches'] : {},
      extra: {
        ...(raw['requirements'] !== undefined && { requirements: raw['requirements'] }),
        ...(linkOf(raw['wiki']) !== null && { wiki: raw['wiki'] }),
      },
      source: { key, raw, ...(index === 0 && { rest }) },
    });
  }
}

/** Returns the ids of traders or maps whose full name is the value of an objective's member. */
function namedIn(objectives: readonly unknown[], names: ReadonlyMap<string, string>): string[] {
  const found = objectives.flatMap((objective) =>
    Object.values(Object(objective) as Raw).flatMap((member) => {
      const id = typeof member === 'string' ? names.get(normalText(member)) : undefined;
      return id === undefined ? [] : [id];
    }),
  );
  return [...new Set(found)];
}
