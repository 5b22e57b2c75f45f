import { id, maximum, minimum, number, rootTexts, setTextAt, text } from './fields.js';
import type { KindSpec } from './kind-spec.js';

export const LEVELS: KindSpec<'levels'> = {
  kind: 'levels',
  aliases: [['exp', 'totalExp']],
  prepare({ totalExp, ...body }, fault) {
    const prepared: Record<string, unknown> = { ...body };
    if (totalExp !== undefined && body['exp'] !== undefined && totalExp !== body['exp']) {
      const message = 'totalExp is an alias of exp but has a different value';
      fault({ path: '/totalExp', code: 'contradiction', message });
    }
    prepared['exp'] ??= totalExp;
    if (typeof body['level'] === 'number') {
      const own = String(body['level']);
      if (body['id'] !== undefined && String(body['id']) !== own) {
        fault({
          path: '/id',
          code: 'contradiction',
          message: `the id of level ${own} must be "${own}"`,
        });
      }
      prepared['id'] = own;
    } else if (body['level'] === undefined && /^[1-9]\d{0,8}$/.test(String(body['id']))) {
      prepared['level'] = Number(body['id']);
    }
    return prepared;
  },
  columns: ({ level, exp, expToNextLevel, title, id: levelId }) => ({
    name: title ?? levelId,
    level,
    exp,
    expToNextLevel,
  }),
  searchTexts: ({ title, id: levelId }) => [title ?? levelId],
  texts: (record) => rootTexts(record, ['title', 'description']),
  setText: (record, key, value) => setTextAt(record, key, value),
  serve({ locales: _locales, source: _source, exp, ...record }) {
    const { id: levelId, slug, level, ...rest } = record;
    return { id: levelId, slug, level, exp, totalExp: exp, ...rest };
  },
  references: () => [],
  check: () => [],
  fields: { id, name: text('name'), level: number('level'), exp: number('exp') },
  filters: { from: minimum('level'), to: maximum('level') },
  sortKeys: ['level'],
  defaultSort: 'level',
  includes: {},
};
