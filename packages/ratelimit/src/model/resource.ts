import { invariant } from '@plinth/kernel';

/** A named bucket of the primary limit. */
export interface Resource {
  readonly name: string;
  /** Name under which it is counted: the same, but where a question brings a limit of its own. */
  readonly bucket: string;
  /** Position in every table that is kept per resource. */
  readonly index: number;
  readonly windowSec: number;
  /** Of authenticated identities; `core` and `graphql` have their own rules. */
  readonly limit: number;
  /** Of `ip:` identities. */
  readonly anonymousLimit: number;
}

/** Limit of a resource that counts nothing until an operator sets one. A small integer keeps tables of limits compact. */
export const UNLIMITED = 2 ** 31 - 1;

const HOUR = 3600;
const MINUTE = 60;

/** Source: rate-limits, section 4.2. `core` and `graphql` here are the rows of a plain user. */
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

/** What an operator sets for a resource; a new name makes a new resource. */
export interface ResourceSetting {
  readonly limit?: number;
  readonly anonymous_limit?: number;
  readonly window?: number;
}

/** All resources by name, in the order in which they are reported. */
export class ResourceTable {
  readonly all: readonly Resource[];
  /** By window, each at the position of its resource; made when one is asked for. */
  readonly #byWindow = new Map<number, readonly Resource[]>();
  readonly #byName: ReadonlyMap<string, Resource>;

  /** @param testWindowSec replaces every window. */
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

  /** For names that were checked when the settings were read. */
  need(name: string): Resource {
    const resource = this.#byName.get(name);
    invariant(resource, `there is a resource named ${name}`);
    return resource;
  }

  /** All of which something may be counted, each at its index. */
  get buckets(): readonly Resource[] {
    return [...this.all, ...ASKED_WINDOWS_SEC.flatMap((windowSec) => this.#resourcesOf(windowSec))];
  }

  /**
   * The same resource with a window of its own, for limits that come with a question: they do not share a bucket with
   * the limit that an identity has, which may last longer.
   * @param windowSec one of `ASKED_WINDOWS_SEC`
   */
  withWindow({ index }: Resource, windowSec: number): Resource {
    const found = this.#resourcesOf(windowSec)[index];
    invariant(found, 'the resource is of this table');
    return found;
  }

  #resourcesOf(windowSec: number): readonly Resource[] {
    let resources = this.#byWindow.get(windowSec);
    if (resources === undefined) {
      const place = ASKED_WINDOWS_SEC.indexOf(windowSec);
      invariant(place !== -1, `there are buckets for ${windowSec} s`);
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

/** From a second to a year. */
const ASKED_WINDOWS_SEC: readonly number[] = [1, 60, 3_600, 86_400, 604_800, 2_592_000, 31_536_000];
