// Source: gamedata, sections 3.7 and 3.8.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TestGameData, type WireRecord } from '../../testing/test-game-data.js';

describe('computed members', () => {
  let service: TestGameData;
  before(async () => {
    service = await TestGameData.start();
  });
  after(() => service[Symbol.asyncDispose]());

  async function all(kind: string): Promise<Map<string, WireRecord>> {
    const path = `/api/${kind}?envelope=page&limit=5000`;
    const { data } = (await service.get<{ data: WireRecord[] }>(path)).body;
    return new Map(data.map((record) => [record.id, record]));
  }

  const member = (value: unknown, ...path: readonly string[]): unknown =>
    path.reduce<unknown>((inner, name) => Reflect.get(Object(inner ?? {}), name), value);

  const numberAt = (value: unknown, ...path: readonly string[]): number | null => {
    const found = member(value, ...path);
    return typeof found === 'number' ? found : null;
  };

  it('computes the numbers of a preset from its base, mods and parts', async () => {
    const [items, ammunition, presets] = await Promise.all([
      all('items'),
      all('ammunition'),
      all('item-presets'),
    ]);
    const sum = (numbers: readonly (number | null)[]): number | null =>
      numbers.reduce<number | null>(
        (total, number) => (total === null || number === null ? null : total + number),
        0,
      );
    const clamp = (number: number) => Math.min(100, Math.max(0, number));
    for (const preset of presets.values()) {
      const base = member(items.get(String(preset['baseId'])), 'properties', 'weapon');
      const mods = (preset['mods'] as { item: string }[]).map(({ item }) =>
        member(items.get(item), 'properties', 'mod'),
      );
      const percent = (name: string) =>
        1 + (sum(mods.map((mod) => numberAt(mod, name))) ?? Number.NaN) / 100;
      const parts = preset['parts'] as { id: string; quantity: number }[];
      const weight = sum(
        parts.map(
          ({ id, quantity }) => (numberAt(items.get(id), 'weight') ?? Number.NaN) * quantity,
        ),
      );
      const round = ammunition.get(String(member(base, 'defaultAmmoId')));
      const expected = {
        ergonomics: clamp(
          sum([numberAt(base, 'ergonomics'), ...mods.map((mod) => numberAt(mod, 'ergonomics'))]) ??
            -1,
        ),
        recoil: Math.round((numberAt(base, 'recoil') ?? -1) * percent('recoilPercent')),
        accuracy: clamp(
          Math.round((numberAt(base, 'accuracy') ?? -1) * percent('accuracyPercent')),
        ),
        weight: Math.round((weight ?? -1) * 1000) / 1000,
        fireRate: numberAt(base, 'fireRate'),
        damagePerShot:
          (numberAt(round, 'ballistics', 'damage') ?? -1) *
          (numberAt(round, 'projectileCount') ?? -1),
      };
      const served = Object.fromEntries(Object.keys(expected).map((name) => [name, preset[name]]));
      assert.deepEqual(served, expected, preset.id);
    }
    assert.ok(presets.size >= 60);
  });

  it('updates the numbers after a part changes, and returns null for unknown inputs', async () => {
    const [preset] = (await all('item-presets')).values();
    assert.ok(preset !== undefined);
    const id = String((preset['mods'] as { item: string }[])[0]?.item);
    const { body: before } = await service.get<WireRecord>(`/api/items/${id}`);
    const mod = member(before, 'properties', 'mod');
    const ergonomics = (numberAt(mod, 'ergonomics') ?? 0) - 3;
    await service.edit('PATCH', `items/${id}`, {
      properties: { mod: { ergonomics } },
      weight: null,
    });
    await service.done('POST', 'save');
    const { body: after } = await service.get<WireRecord>(`/api/item-presets/${preset.id}`);
    assert.equal(after['ergonomics'], Number(preset['ergonomics']) - 3);
    assert.equal(after['weight'], null);
    await service.done('POST', 'versions/1/restore');
    assert.deepEqual((await service.get(`/api/item-presets/${preset.id}`)).body, preset);
  });

  it('returns the total experience needed to reach a level', async () => {
    const levels = [...(await all('levels')).values()];
    let total = 0;
    for (const [index, level] of levels.entries()) {
      assert.deepEqual(
        [level['level'], level['exp'], level['totalExp']],
        [index + 1, total, total],
      );
      total += Number(level['expToNextLevel']);
    }
    assert.equal(levels.at(-1)?.['expToNextLevel'], 0);
    assert.equal(levels.length, 60);
  });
});
