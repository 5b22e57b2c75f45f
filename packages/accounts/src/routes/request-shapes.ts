import type { TSchema } from 'typebox';
import { invalidFields } from '../domain/refusals.js';
import type { ReferenceLists } from '../model/reference.js';
import { accountParams, accountTokenParams } from '../model/shape/account-params.js';
import { checkShape } from '../model/shape/check-shape.js';
import { fixedOneOf, group, list, whole } from '../model/shape/fields.js';
import { clockFixtureSchema } from '../model/shape/operator-params.js';
import { personParams } from '../model/shape/person-params.js';

/** The schemas of all bodies, each made when it is first asked for. */
export class RequestShapes {
  readonly #lists: ReferenceLists;
  readonly #made = new Map<ShapeName, TSchema>();

  constructor(lists: ReferenceLists) {
    this.#lists = lists;
  }

  of(name: ShapeName): TSchema {
    const known = this.#made.get(name);
    if (known !== undefined) return known;
    const schema = MAKERS[name](this.#lists);
    this.#made.set(name, schema);
    return schema;
  }

  /**
   * The body in the spelling that is stored. Throws `invalid_fields` with every field that is not what it should be.
   * The caller names the type that the schema describes.
   */
  check<T>(name: ShapeName, body: unknown): T {
    const { value, failures } = checkShape(this.of(name), body);
    if (failures.length > 0) throw invalidFields(failures);
    return value as T;
  }
}

const FROZEN_TIME = whole({ nullable: false, minimum: 0, maximum: 32_503_680_000 });

const MAKERS = {
  account_create: (lists: ReferenceLists) => accountParams({ operation: 'create', lists }),
  account_update: (lists: ReferenceLists) => accountParams({ operation: 'update', lists }),
  account_close: () =>
    group({
      applied_configurations: list(fixedOneOf(['customer', 'merchant', 'recipient']), {
        nullable: false,
      }),
    }),
  account_token: (lists: ReferenceLists) => accountTokenParams(lists),
  person_create: (lists: ReferenceLists) => personParams({ operation: 'create', lists }, 'person'),
  person_update: (lists: ReferenceLists) => personParams({ operation: 'update', lists }, 'person'),
  person_token: (lists: ReferenceLists) =>
    personParams({ operation: 'update', lists }, 'person_token'),
  test_clock: () => clockFixtureSchema(),
  test_clock_advance: () =>
    group({ frozen_time: FROZEN_TIME }, { required: ['frozen_time'], nullable: false }),
} as const;

export type ShapeName = keyof typeof MAKERS;
