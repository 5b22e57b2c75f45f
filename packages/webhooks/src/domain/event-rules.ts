import { type FieldError, isPlainText, ValidationFailed } from '@plinth/kernel';
import type { Fields, ParsedEvent } from './payload/event-body.js';
import type { EventRequest } from './publisher.js';

/** Finds an app by its id or its client id. */
export type FindAppId = (selector: {
  readonly id?: number;
  readonly client_id?: string;
}) => Promise<number | undefined>;

/** Finds the app of a registered installation. */
export type FindInstallationApp = (installationId: number) => Promise<number | undefined>;

const MAX_TARGET_COUNT = 1000;
const MAX_DELAY_MS = 30 * 86_400_000;
const MAX_KEY_LENGTH = 255;

/**
 * Checks one event of an operator's request. Throws `ValidationFailed` with all errors.
 * Source: webhooks, section 8.1.
 */
export async function checkEvent(
  { fields, unknown, payload }: ParsedEvent,
  deps: {
    readonly nowMs: number;
    readonly findAppId: FindAppId;
    readonly findInstallationApp: FindInstallationApp;
    readonly headerKey?: string;
  },
): Promise<EventRequest> {
  const errors: FieldError[] = [];
  const refuse = (field: string, code: FieldError['code'], value?: unknown): undefined => {
    errors.push({ resource: 'Event', field, code, ...(value !== undefined && { value }) });
  };
  if (unknown !== undefined) refuse(unknown.slice(0, 100), 'invalid');
  const event = readName(fields, refuse);
  const envelopeAction = readText(fields, 'action', 100, refuse);
  const payloadAction = typeof payload === 'string' ? undefined : payload.action;
  if (
    envelopeAction !== undefined &&
    payloadAction !== undefined &&
    envelopeAction !== payloadAction
  )
    refuse('action', 'invalid', envelopeAction);
  const action = envelopeAction ?? actionOf(payloadAction);
  if (payload === 'missing') refuse('payload', 'missing_field');
  else if (payload === 'invalid') refuse('payload', 'invalid');
  const installation = readId(fields, 'installation_id', refuse);
  const repository = readId(fields, 'repository_id', refuse);
  const header = { 'Idempotency-Key': deps.headerKey };
  const key =
    readText(fields, 'id', MAX_KEY_LENGTH, refuse) ??
    readText(header, 'Idempotency-Key', MAX_KEY_LENGTH, refuse);
  const orderingKey = readText(fields, 'ordering_key', MAX_KEY_LENGTH, refuse);
  const deliverAtMs = readTime(fields, deps.nowMs, refuse);
  const appIds = await readTargets(fields, deps.findAppId, refuse);
  if (errors.length > 0 || event === undefined || typeof payload === 'string') {
    throw new ValidationFailed(errors);
  }
  const installationId = installation ?? payload.installationId;
  return {
    event,
    action,
    payload,
    installation_id: installationId,
    repository_id: repository ?? payload.repositoryId,
    appIds: appIds ?? (await appOfInstallation(installationId, deps.findInstallationApp)),
    idempotencyKey: key,
    orderingKey,
    deliverAtMs,
  };
}

/** Returns the action to record for a payload whose envelope has no action. */
const actionOf = (payloadAction: unknown): string | undefined =>
  typeof payloadAction === 'string' &&
  payloadAction.length >= 1 &&
  payloadAction.length <= 100 &&
  isPlainText(payloadAction)
    ? payloadAction
    : undefined;

/**
 * Returns the app of a registered installation; events of the installation are sent only to this
 * app.
 */
async function appOfInstallation(
  installationId: number | undefined,
  find: FindInstallationApp,
): Promise<readonly number[] | undefined> {
  const appId = installationId === undefined ? undefined : await find(installationId);
  return appId === undefined ? undefined : [appId];
}

type Refuse = (field: string, code: FieldError['code'], value?: unknown) => undefined;

function readName(fields: Fields, refuse: Refuse): string | undefined {
  const event = fields['event'];
  if (event === undefined) return refuse('event', 'missing_field');
  const isName = typeof event === 'string' && /^[a-z0-9_.-]{1,100}$/.test(event);
  // Only the server sends pings, so clients cannot publish them.
  return isName && event !== 'ping' ? event : refuse('event', 'invalid', event);
}

function readText(
  fields: Fields,
  field: string,
  maxLength: number,
  refuse: Refuse,
): string | undefined {
  const value = fields[field];
  if (value === undefined || value === null) return undefined;
  const isFine =
    typeof value === 'string' &&
    value.length >= 1 &&
    value.length <= maxLength &&
    isPlainText(value);
  return isFine ? value : refuse(field, 'invalid', value);
}

function readId(fields: Fields, field: string, refuse: Refuse): number | undefined {
  const value = fields[field];
  if (value === undefined || value === null) return undefined;
  const isId = typeof value === 'number' && Number.isSafeInteger(value) && value >= 1;
  return isId ? value : refuse(field, 'invalid', value);
}

function readTime(fields: Fields, nowMs: number, refuse: Refuse): number | undefined {
  const value = fields['deliver_at'];
  if (value === undefined || value === null) return undefined;
  const timeMs =
    typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : Number.NaN;
  const isFine = !Number.isNaN(timeMs) && timeMs <= nowMs + MAX_DELAY_MS;
  return isFine ? timeMs : refuse('deliver_at', 'invalid', value);
}

async function readTargets(
  fields: Fields,
  findAppId: FindAppId,
  refuse: Refuse,
): Promise<readonly number[] | undefined> {
  const { app_id: singleId, client_id: clientId, app_ids: idList } = fields;
  if (singleId === undefined && clientId === undefined && idList === undefined) return undefined;
  const foundIds: number[] = [];
  const lookUp = async (field: string, value: unknown): Promise<void> => {
    const isClient = field === 'client_id';
    const isFine = isClient
      ? typeof value === 'string' && value.length <= 100 && isPlainText(value)
      : typeof value === 'number' && Number.isSafeInteger(value) && value >= 1;
    const appId = isFine
      ? await findAppId(isClient ? { client_id: value as string } : { id: value as number })
      : undefined;
    if (appId === undefined) refuse(field, isFine ? 'missing' : 'invalid', value);
    else foundIds.push(appId);
  };
  if (singleId !== undefined) await lookUp('app_id', singleId);
  if (clientId !== undefined) await lookUp('client_id', clientId);
  if (idList !== undefined) {
    if (!Array.isArray(idList) || idList.length > MAX_TARGET_COUNT) refuse('app_ids', 'invalid');
    else for (const value of idList) await lookUp('app_ids', value);
  }
  return foundIds;
}
