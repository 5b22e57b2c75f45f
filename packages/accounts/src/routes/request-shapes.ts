import type { TSchema } from 'typebox';
import { invalidFields } from '../domain/refusals.js';
import { EVENT_TYPES } from '../model/events/event-destination.js';
import type { ReferenceLists } from '../model/platform/reference.js';
import { accountParams, accountTokenParams } from '../model/shape/account-params.js';
import { checkShape } from '../model/shape/check-shape.js';
import { fixedOneOf, fixedText, group, list, text, whole } from '../model/shape/fields.js';
import { testClockSchema } from '../model/shape/operator-params.js';
import { METADATA, personParams } from '../model/shape/person-params.js';

/** Schemas of all bodies, each created on first use. */
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
   * Returns the normalized body. Throws `invalid_fields` with every invalid field. The caller
   * supplies the type that the schema describes.
   */
  check<T>(name: ShapeName, body: unknown): T {
    const { value, failures } = checkShape(this.of(name), body);
    if (failures.length > 0) throw invalidFields(failures);
    return value as T;
  }
}

function destinationSchema(operation: 'create' | 'update'): TSchema {
  const isCreate = operation === 'create';
  return group(
    {
      name: fixedText({ maxLength: 300 }),
      description: text({ maxLength: 1000 }),
      enabled_events: list(fixedOneOf(['*', ...EVENT_TYPES]), {
        nullable: false,
        minItems: 1,
        maxItems: 200,
      }),
      include: list(
        fixedOneOf(
          ['webhook_endpoint.url', 'webhook_endpoint.signing_secret'].slice(0, isCreate ? 2 : 1),
        ),
        { nullable: false },
      ),
      metadata: METADATA,
      webhook_endpoint: group(
        { url: fixedText({ maxLength: 2048 }) },
        { required: ['url'], nullable: false },
      ),
      ...(isCreate && {
        type: fixedOneOf(['webhook_endpoint']),
        event_payload: fixedOneOf(['thin']),
        events_from: list(fixedOneOf(['@self']), { nullable: false }),
      }),
    },
    {
      required: isCreate
        ? ['name', 'type', 'event_payload', 'enabled_events', 'webhook_endpoint']
        : [],
      nullable: false,
    },
  );
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
  empty: () => group({}),
  destination_create: () => destinationSchema('create'),
  destination_update: () => destinationSchema('update'),
  test_clock: () => testClockSchema(),
  test_clock_advance: () =>
    group({ frozen_time: FROZEN_TIME }, { required: ['frozen_time'], nullable: false }),
} as const;

export type ShapeName = keyof typeof MAKERS;
export const SHAPE_NAMES = Object.keys(MAKERS) as readonly ShapeName[]; // the keys are the shape names
