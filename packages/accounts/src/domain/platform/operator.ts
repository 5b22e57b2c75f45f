import { type Clock, type Random, randomLetters } from '@plinth/kernel';
import type { OperatorOverrides, StoredAccount } from '../../model/account/account.js';
import type { OperatorRequirement } from '../../model/account/requirements.js';
import { DEFAULT_PLATFORM_SETTINGS } from '../../model/platform/platform-settings.js';
import type { ReferenceLists } from '../../model/platform/reference.js';
import type { Tenant } from '../../model/platform/tenant.js';
import type { VendorWord } from '../../model/platform/vendor-word.js';
import { checkShape, invalidTimestamp } from '../../model/shape/check-shape.js';
import {
  fileSchema,
  keySchema,
  operatorRequirementSchema,
  paymentMethodSchema,
  stateSchema,
  templateSchema,
  testClockSchema,
  tickSchema,
} from '../../model/shape/operator-params.js';
import { parseTimestamp, timestamp } from '../../model/timestamps.js';
import { accountObject, type WireOptions } from '../../model/wire/account-object.js';
import type { AccountStore } from '../../storage/account-store.js';
import { type CommitQueue, WriteSet } from '../../storage/commit-queue.js';
import { readPage, toPage } from '../account/account-pages.js';
import type { AccountUpkeep } from '../account/account-upkeep.js';
import { patchSettings, withoutFixed } from '../change/patch-settings.js';
import type { EventDestinations } from '../events/event-destinations.js';
import { invalidFields, notFound } from '../refusals.js';
import type { KeyRotation } from './key-rotation.js';
import type { Platform, Platforms } from './platforms.js';
import type { NewFile, RegisteredObjects } from './registered-objects.js';
import type { TestClocks } from './test-clocks.js';

/** Platform keys as the operator manages them. */
export interface ManagedKeys {
  create(
    newKeys: readonly {
      readonly platform: string;
      readonly kind: 'secret' | 'publishable';
      readonly livemode: boolean;
      readonly expiresMs?: number | undefined;
    }[],
  ): Promise<readonly { readonly text: string; readonly key: ManagedKey }[]>;
  list(platform: string): readonly ManagedKey[];
  revoke(platform: string, id: string): Promise<boolean>;
  deletePlatform(platform: string): Promise<void>;
}

export interface ManagedKey {
  readonly id: string;
  readonly kind: 'secret' | 'publishable';
  readonly livemode: boolean;
  readonly last4: string;
  /** Accurate to the minute; `undefined` if never used. */
  readonly lastUsedMs?: number | undefined;
  readonly createdMs: number;
  readonly expiresMs: number | undefined;
  readonly revokedMs: number | undefined;
}

interface OperatorDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly lists: ReferenceLists;
  readonly vendorWord: VendorWord;
  readonly wire: WireOptions;
  readonly platforms: Platforms;
  readonly keys: ManagedKeys;
  readonly store: AccountStore;
  readonly commits: CommitQueue;
  readonly destinations: EventDestinations;
  readonly registeredObjects: RegisteredObjects;
  readonly clocks: TestClocks;
  readonly upkeep: AccountUpkeep;
  readonly rotation: KeyRotation;
}

interface AccountAt {
  readonly platform: string;
  readonly id: string;
}

const ALL_SECTIONS = new Set([
  'configuration.customer',
  'configuration.merchant',
  'configuration.recipient',
  'defaults',
  'future_requirements',
  'identity',
  'requirements',
] as const);

/**
 * Actions of the server's operator; every change writes a row to the audit table. Source: accounts,
 * section 4.
 */
export class Operator {
  readonly #deps: OperatorDeps;

  constructor(deps: OperatorDeps) {
    this.#deps = deps;
  }

  listPlatforms(): object {
    return { data: this.#deps.platforms.list().map((platform) => this.#platformObject(platform)) };
  }

  platform(id: string): object {
    return this.#platformObject(this.#deps.platforms.get(id));
  }

  /** Returns the results of the last deliveries to an event destination. */
  async listAttempts(platform: string, destination: string): Promise<object> {
    this.#deps.platforms.get(platform);
    return await this.#deps.destinations.describeAttempts(platform, destination);
  }

  async createPlatform(body: Readonly<Record<string, unknown>>): Promise<object> {
    const platform = await this.#deps.platforms.create(
      patchSettings(DEFAULT_PLATFORM_SETTINGS, body, this.#deps),
    );
    await this.#audit('platform_created', { platform: platform.id });
    return this.#platformObject(platform);
  }

  async patchPlatform(id: string, body: Readonly<Record<string, unknown>>): Promise<object> {
    const { platforms } = this.#deps;
    const created = timestamp(platforms.get(id).createdMs);
    const patch = withoutFixed(body, { id, created });
    const platform = await platforms.update(id, (settings) =>
      patchSettings(settings, patch, this.#deps),
    );
    await this.#audit('platform_changed', { platform: id, members: Object.keys(body) });
    return this.#platformObject(platform);
  }

  async deletePlatform(id: string): Promise<object> {
    await this.#deps.platforms.delete(id);
    await this.#deps.keys.deletePlatform(id);
    await this.#audit('platform_deleted', { platform: id });
    return { id, deleted: true };
  }

  listKeys(platform: string): object {
    this.#deps.platforms.get(platform);
    return { data: this.#deps.keys.list(platform).map(keyObject) };
  }

  async createKey(platform: string, body: unknown): Promise<object> {
    this.#deps.platforms.get(platform);
    const { kind, livemode, expires_at } = check<{
      kind: 'secret' | 'publishable';
      livemode: boolean;
      expires_at?: string;
    }>(keySchema(), body);
    const expiresMs = expires_at === undefined ? undefined : instant('expires_at', expires_at);
    const [issued] = await this.#deps.keys.create([{ platform, kind, livemode, expiresMs }]);
    if (issued === undefined) throw notFound('key', platform);
    await this.#audit('key_created', { platform, key: issued.key.id });
    const { last4: _, ...shown } = keyObject(issued.key);
    return { ...shown, value: issued.text };
  }

  async revokeKey(platform: string, id: string): Promise<object> {
    if (!(await this.#deps.keys.revoke(platform, id))) throw notFound('key', id);
    await this.#audit('key_revoked', { platform, key: id });
    return { id, revoked: true };
  }

  async addFile(platform: string, body: unknown): Promise<object> {
    const file = check<NewFile>(fileSchema(), body);
    return await this.#deps.registeredObjects.addFile(this.#tenant(platform, file.livemode), file);
  }

  async addPaymentMethod(platform: string, body: unknown): Promise<object> {
    const about = check<{
      type: string;
      livemode: boolean;
      account?: string | null;
      detached?: boolean;
    }>(paymentMethodSchema(), body);
    const tenant = this.#tenant(platform, about.livemode);
    return await this.#deps.registeredObjects.addPaymentMethod(tenant, about);
  }

  async addTemplate(platform: string, body: unknown): Promise<object> {
    const { livemode, archived = false } = check<{ livemode: boolean; archived?: boolean }>(
      templateSchema(),
      body,
    );
    return await this.#deps.registeredObjects.addTemplate(
      this.#tenant(platform, livemode),
      archived,
    );
  }

  async addClock(platform: string, body: unknown): Promise<object> {
    const { frozen_time, name } = check<{ frozen_time: number; name?: string | null }>(
      testClockSchema(),
      body,
    );
    const about = { frozenTime: frozen_time, name: name || null };
    return await this.#deps.clocks.add(this.#tenant(platform, false), about);
  }

  /** Returns the open accounts of a clock, without includable sections. A closed account leaves its clock. */
  async listOnClock(platform: string, clock: string): Promise<object> {
    const tenant = this.#tenant(platform, false);
    const { clocks, store } = this.#deps;
    await clocks.refuseUnknown(tenant, clock);
    const found = await Promise.all(
      (await store.listOnClock(clock)).map(async (id) => store.summary(tenant, id)),
    );
    const data = found.flatMap((each) => (each ? [JSON.parse(each.summaryJson) as unknown] : []));
    return { data };
  }

  /** Evaluates every open account in both modes, as of `now` if it is given. */
  async tick(platform: string, body: unknown): Promise<object> {
    const { now } = check<{ now?: string }>(tickSchema(), body);
    const asOfMs = now === undefined ? undefined : instant('now', now);
    const test = await this.#deps.upkeep.evaluateAll(this.#tenant(platform, false), asOfMs);
    const live = await this.#deps.upkeep.evaluateAll(this.#tenant(platform, true), asOfMs);
    await this.#audit('tick', { platform, now: now ?? null });
    return { evaluated: test + live };
  }

  async listAccounts(
    platform: string,
    options: {
      readonly livemode: boolean;
      readonly isClosed: boolean;
      readonly limit: number;
      readonly page: string | undefined;
      readonly path: string;
    },
  ): Promise<object> {
    const tenant = this.#tenant(platform, options.livemode);
    const { livemode, isClosed, limit, page, path } = options;
    const filters = [
      ['livemode', String(livemode)],
      ['closed', String(isClosed)],
    ] as const;
    const request = { tenant, path, filters, limit, page };
    const query = readPage(request);
    const found = await this.#deps.store.listSummaries(
      tenant,
      { isClosed, configurations: [] },
      query,
    );
    const { items, next_page_url, previous_page_url } = toPage(request, query, found);
    const data = items.map(({ summaryJson }) => JSON.parse(summaryJson) as unknown);
    return { data, next_page_url, previous_page_url };
  }

  /** Returns an account with every section and the data visible only to the operator. */
  async account(target: AccountAt): Promise<object> {
    const tenant = await this.#tenantOf(target);
    const view = await this.#deps.store.view(tenant, target.id);
    if (view === undefined) throw notFound('account', target.id);
    const account = accountObject(view, ALL_SECTIONS, this.#deps.wire);
    return { account, ...this.#operatorSide(view.account) };
  }

  async closeAccount(target: AccountAt): Promise<object> {
    const tenant = await this.#tenantOf(target);
    await this.#deps.upkeep.close(tenant, target.id);
    await this.#audit('account_closed', { account: target.id });
    return await this.account(target);
  }

  async patchState(target: AccountAt, body: unknown): Promise<object> {
    const { verify, ...overrides } = check<
      Partial<OperatorOverrides> & { verify?: { target: string; outcome: string } }
    >(stateSchema(this.#deps.lists), body);
    const account = await this.#deps.upkeep.changeOverrides(
      await this.#tenantOf(target),
      target.id,
      {
        overrides: (before) => withMethods({ ...before, ...overrides }),
        ...(verify && { outcomes: { [verify.target]: verify.outcome } }),
      },
    );
    await this.#audit('account_state_changed', {
      account: target.id,
      members: Object.keys(overrides),
    });
    return this.#operatorSide(account);
  }

  async addRequirement(target: AccountAt, body: unknown): Promise<object> {
    const { lists, vendorWord, random } = this.#deps;
    const fields = check<Omit<OperatorRequirement, 'id'>>(
      operatorRequirementSchema(lists),
      vendorWord.restrictsToInternal(body),
    );
    if (fields.transition !== undefined) instant('transition', fields.transition);
    const entry = { ...fields, id: `reqent_${randomLetters(random, 16)}` };
    await this.#deps.upkeep.addOperatorRequirement(await this.#tenantOf(target), target.id, entry);
    await this.#audit('requirement_injected', { account: target.id, entry: entry.id });
    return { ...(this.#deps.vendorWord.allToWire(entry) as object) };
  }

  async removeRequirement(target: AccountAt, entryId: string): Promise<object> {
    await this.#deps.upkeep.removeOperatorRequirement(
      await this.#tenantOf(target),
      target.id,
      entryId,
    );
    await this.#audit('requirement_removed', { account: target.id, entry: entryId });
    return { id: entryId, deleted: true };
  }

  async rotateKey(): Promise<object> {
    const { rewrittenCount, keyId } = await this.#deps.rotation.rotate();
    await this.#audit('key_rotated', { key: keyId });
    return { key: keyId, rewritten: rewrittenCount };
  }

  #tenant(platform: string, livemode: boolean): Tenant {
    return { platform: this.#deps.platforms.get(platform).id, livemode };
  }

  /** Finds the mode of an account, because operators refer to it only by id. */
  async #tenantOf({ platform, id }: AccountAt): Promise<Tenant> {
    for (const livemode of [false, true]) {
      const tenant = this.#tenant(platform, livemode);
      if ((await this.#deps.store.summary(tenant, id)) !== undefined) return tenant;
    }
    throw notFound('account', id);
  }

  #operatorSide(account: StoredAccount): Record<string, unknown> {
    const { id, overrides, operatorRequirements, verifications, everActive, nextEvaluationMs } =
      account;
    const shown = Object.entries(verifications).map(([target, { status, code }]) => ({
      target,
      status,
      ...(code !== undefined && { code }),
    }));
    return {
      id,
      state: overrides,
      injected_requirements: this.#deps.vendorWord.allToWire(operatorRequirements),
      verifications: shown,
      ever_active: this.#deps.vendorWord.allToWire(everActive),
      due: nextEvaluationMs === undefined ? null : timestamp(nextEvaluationMs),
    };
  }

  #platformObject({ id, createdMs, settings }: Platform): Record<string, unknown> {
    return { id, created: timestamp(createdMs), ...settings };
  }

  async #audit(action: string, about: Readonly<Record<string, unknown>>): Promise<void> {
    const { clock, random, commits } = this.#deps;
    const row = {
      id: random.uuidV7(),
      created_ms: clock.nowMs(),
      body: JSON.stringify({ action, ...about }),
    };
    await commits.commit(new WriteSet().put('accounts_audit', row));
  }
}

function withMethods(overrides: OperatorOverrides): OperatorOverrides {
  const payout_methods = overrides.payout_methods.map((method) => ({
    ...method,
    v1: method.v1 ?? false,
  }));
  return { ...overrides, payout_methods };
}

function keyObject(key: ManagedKey) {
  return {
    id: key.id,
    kind: key.kind,
    livemode: key.livemode,
    last4: key.last4,
    created: timestamp(key.createdMs),
    expires_at: key.expiresMs === undefined ? null : timestamp(key.expiresMs),
    revoked_at: key.revokedMs === undefined ? null : timestamp(key.revokedMs),
    last_used_at: key.lastUsedMs === undefined ? null : timestamp(key.lastUsedMs),
  };
}

function check<T>(schema: Parameters<typeof checkShape>[0], body: unknown): T {
  const { value, failures } = checkShape(schema, body);
  if (failures.length > 0) throw invalidFields(failures);
  return value as T; // the caller supplies the type that the schema describes
}

function instant(field: string, text: string): number {
  const ms = parseTimestamp(text);
  if (ms !== undefined) return ms;
  throw invalidFields([{ field, code: 'bad_format', message: invalidTimestamp(field) }]);
}
