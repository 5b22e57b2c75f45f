import { invariant } from '@plinth/kernel';

/** A named bucket of the primary limit. */
export interface Resource {
  readonly name: string;
  /**
   * Name of the bucket that is counted. Differs from `name` only when a check contains its own
   * limit.
   */
  readonly bucket: string;
  /** Index in all tables that have one entry per resource. */
  readonly index: number;
  readonly windowSec: number;
  /** Limit of authenticated identities; `core` and `graphql` have their own rules. */
  readonly limit: number;
  /** Limit of `ip:` identities. */
  readonly anonymousLimit: number;
}

/** Limit of a resource without a configured limit. A small integer keeps limit tables compact. */
export const UNLIMITED = 2 ** 31 - 1;

const HOUR = 3600;
const MINUTE = 60;

/** Source: rate-limits, section 4.2. `core` and `graphql` contain the limits of a plain user. */
const BUILT_IN: readonly (readonly [
  name: string,
  limit: number,
  anonymousLimit: number,
  windowSec: number,
])[] = [
  ['core', 5_000, 60, HOUR],
  ['search', 30, 10, MINUTE],
  ['graphql', 5_000, 0, HOUR],
  ['integration_manifest', 5_000, 5_000, HOUR],
  ['source_import', 100, 5, MINUTE],
  ['code_scanning_upload', 1_000, 60, HOUR],
  ['code_scanning_autofix', 10, 10, MINUTE],
  ['actions_runner_registration', 10_000, 10_000, HOUR],
  ['scim', 15_000, 15_000, HOUR],
  ['dependency_snapshots', 100, 100, MINUTE],
  ['dependency_sbom', 100, 100, MINUTE],
  ['audit_log', 1_750, 0, HOUR],
  ['audit_log_streaming', 15, 0, HOUR],
  ['code_search', 10, 10, MINUTE],
  ['lfs', 3_000, 300, MINUTE],
  ['tsdb_write', UNLIMITED, UNLIMITED, MINUTE],
  ['tsdb_query', UNLIMITED, UNLIMITED, MINUTE],
  ['accounts', UNLIMITED, UNLIMITED, MINUTE],
  ['gamedata', UNLIMITED, UNLIMITED, MINUTE],
];

/** Settings of a resource; a new name creates a resource. */
export interface ResourceSetting {
  readonly limit?: number;
  readonly anonymous_limit?: number;
  readonly window?: number;
}

/** All resources by name, in the order in which they are reported. */
export class ResourceTable {
  readonly all: readonly Resource[];
  /** Resources with another window, by window and resource index; created on first use. */
  readonly #byWindow = new Map<number, readonly Resource[]>();
  readonly #byName: ReadonlyMap<string, Resource>;

  /** @param testWindowSec replaces the length of every window. */
  constructor(
    settings: Readonly<Record<string, ResourceSetting>> = {},
    testWindowSec: number | undefined = undefined,
  ) {
    const rows = new Map(BUILT_IN.map((row) => [row[0], row]));
    for (const [name, { limit, anonymous_limit, window }] of Object.entries(settings)) {
      const [, plain, anonymous, windowSec] = rows.get(name) ?? [name, UNLIMITED, undefined, HOUR];
      const newLimit = limit ?? plain;
      rows.set(name, [
        name,
        newLimit,
        anonymous_limit ?? anonymous ?? newLimit,
        window ?? windowSec,
      ]);
    }
    this.all = [...rows.values()].map(([name, limit, anonymousLimit, windowSec], index) => ({
      name,
      bucket: name,
      index,
      limit,
      anonymousLimit,
      windowSec: testWindowSec ?? windowSec,
    }));
    this.#byName = new Map(this.all.map((resource) => [resource.name, resource]));
  }

  find(name: string): Resource | undefined {
    return this.#byName.get(name);
  }

  /** Returns a resource whose name was checked with the settings. */
  need(name: string): Resource {
    const resource = this.#byName.get(name);
    invariant(resource, `resource ${name} not found`);
    return resource;
  }

  /** All buckets that may be counted, each at its index. */
  get buckets(): readonly Resource[] {
    return [...this.all, ...ASKED_WINDOWS_SEC.flatMap((windowSec) => this.#resourcesOf(windowSec))];
  }

  /**
   * Returns the same resource with another window, for limits that a check contains.
   * They do not share a bucket with the identity's own limit, which may have a longer window.
   * @param windowSec one of `ASKED_WINDOWS_SEC`.
   */
  withWindow({ index }: Resource, windowSec: number): Resource {
    const found = this.#resourcesOf(windowSec)[index];
    invariant(found, 'the resource is from another table');
    return found;
  }

  #resourcesOf(windowSec: number): readonly Resource[] {
    let resources = this.#byWindow.get(windowSec);
    if (resources === undefined) {
      const place = ASKED_WINDOWS_SEC.indexOf(windowSec);
      invariant(place !== -1, `no buckets with a window of ${windowSec} s`);
      const from = this.all.length * (1 + place);
      resources = this.all.map((resource) => ({
        ...resource,
        bucket: `${resource.name}/${windowSec}`,
        index: from + resource.index,
        windowSec,
      }));
      this.#byWindow.set(windowSec, resources);
    }
    return resources;
  }
}

/** One second to one year. */
const ASKED_WINDOWS_SEC: readonly number[] = [1, 60, 3_600, 86_400, 604_800, 2_592_000, 31_536_000];
