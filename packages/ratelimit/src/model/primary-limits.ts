import type { LimitProfile } from '@plinth/kernel';
import { type Resource, type ResourceTable, UNLIMITED } from './resource.js';

/** Prefix of an identity's key. A `token` is one of the server's own credentials and counts as a user. */
export type IdentityClass = 'ip' | 'user' | 'installation' | 'oauth-app' | 'repo' | 'app' | 'token';

/** Limits of one identity, indexed by resource. */
export interface PrimaryLimits {
  /** `UNLIMITED`: not limited, counted or shown. */
  readonly limit: readonly number[];
  readonly windowSec: readonly number[];
}

export interface Scaling {
  /** Whether only repositories and users beyond 20 count. */
  readonly excessOnly: boolean;
  readonly cap: number;
}

const DEFAULT_SCALING: Scaling = { excessOnly: false, cap: 12_500 };

/** Computes an identity's limits from its profile. Source: rate-limits, sections 4.1 and 4.2. */
export class PrimaryLimitRules {
  readonly #resources: ResourceTable;
  readonly #scaling: Scaling;
  readonly #plain = new Map<IdentityClass, PrimaryLimits>();
  readonly #byProfile = new WeakMap<LimitProfile, PrimaryLimits>();

  constructor(resources: ResourceTable, scaling: Scaling = DEFAULT_SCALING) {
    this.#resources = resources;
    this.#scaling = scaling;
  }

  /** A profile must always be used with the same class. */
  limitsOf(identityClass: IdentityClass, profile: LimitProfile | undefined): PrimaryLimits {
    const known =
      profile === undefined ? this.#plain.get(identityClass) : this.#byProfile.get(profile);
    if (known !== undefined) return known;
    const limits = this.#compute(identityClass, profile);
    if (profile === undefined) this.#plain.set(identityClass, limits);
    else this.#byProfile.set(profile, limits);
    return limits;
  }

  #compute(identityClass: IdentityClass, profile: LimitProfile | undefined): PrimaryLimits {
    const { all } = this.#resources;
    const rows = all.map((resource) => {
      const override = profile?.overrides.get(resource.name);
      if (override === 'exempt') return { limit: UNLIMITED, windowSec: resource.windowSec };
      if (override !== undefined) return override;
      const limit = this.#limitOf(identityClass, profile, resource);
      return { limit, windowSec: resource.windowSec };
    });
    return {
      limit: rows.map(({ limit }) => limit),
      windowSec: rows.map(({ windowSec }) => windowSec),
    };
  }

  #limitOf(
    identityClass: IdentityClass,
    profile: LimitProfile | undefined,
    resource: Resource,
  ): number {
    if (identityClass === 'ip') return resource.anonymousLimit;
    const isGraph = resource.name === 'graphql';
    if (resource.name !== 'core' && !isGraph) return resource.limit;
    if (profile?.isEnterprise) {
      return isGraph && identityClass !== 'repo' ? ENTERPRISE_GRAPH_LIMIT : ENTERPRISE_LIMIT;
    }
    if (identityClass === 'repo') return REPOSITORY_LIMIT;
    if (identityClass === 'installation') {
      return installationLimit(resource.limit, profile, this.#scaling);
    }
    return resource.limit;
  }
}

const ENTERPRISE_LIMIT = 15_000;
const ENTERPRISE_GRAPH_LIMIT = 10_000;
const REPOSITORY_LIMIT = 1_000;
const PER_UNIT = 50;
/** Number of repositories or users that do not raise the limit. */
const FREE_COUNT = 20;

function installationLimit(
  base: number,
  profile: LimitProfile | undefined,
  { excessOnly, cap }: Scaling,
): number {
  const counted = (count: number): number => {
    if (count <= FREE_COUNT) return 0;
    return excessOnly ? count - FREE_COUNT : count;
  };
  const added = counted(profile?.repositoriesCount ?? 0) + counted(profile?.usersCount ?? 0);
  // A base above the cap is intentional and stays.
  return Math.max(base, Math.min(cap, base + PER_UNIT * added));
}
