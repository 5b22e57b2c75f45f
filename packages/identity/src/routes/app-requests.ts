import { type FieldError, isPlainText, ValidationFailed } from '@plinth/kernel';
import type { AppChangeRequest, NewAppRequest } from '../domain/apps.js';
import type { PrivateKeyFormat } from '../domain/key-maker.js';
import type { AppOwner, AppSelector } from '../model/app.js';

type Fields = Readonly<Record<string, unknown>>;

/** Throws `ValidationFailed` with everything that is wrong. */
export function readNewApp(body: Fields, privateFormat: PrivateKeyFormat): NewAppRequest {
  const errors: FieldError[] = [];
  const name = readName(body, errors);
  if (body['name'] === undefined) {
    errors.push({ resource: 'App', field: 'name', code: 'missing_field' });
  }
  const slug = readSlug(body, errors);
  const owner = readOwner(body['owner'], errors);
  const publicKey = readPem(body, errors);
  if (errors.length > 0 || name === undefined) throw new ValidationFailed(errors);
  const webhook = body['webhook'];
  return { name, slug, owner: owner ?? undefined, webhook, publicKey, privateFormat };
}

export function readAppChange(body: Fields): AppChangeRequest {
  const errors: FieldError[] = [];
  const name = readName(body, errors);
  const slug = readSlug(body, errors);
  const owner = readOwner(body['owner'], errors);
  if (errors.length > 0) throw new ValidationFailed(errors);
  return { name, slug, owner, webhook: body['webhook'] };
}

export function readKeyRequest(body: Fields): string | undefined {
  const errors: FieldError[] = [];
  const publicKey = readPem(body, errors);
  if (errors.length > 0) throw new ValidationFailed(errors);
  return publicKey;
}

/** An app in a path: its id, or its client id. */
export function readSelector(text: string): AppSelector {
  return /^[1-9]\d{0,14}$/.test(text) ? { id: Number(text) } : { client_id: text };
}

function readName(body: Fields, errors: FieldError[]): string | undefined {
  const name = body['name'];
  if (name === undefined) return undefined;
  const isName =
    typeof name === 'string' && isPlainText(name) && /^.{1,64}$/u.test(name) && name.trim() !== '';
  if (isName) return name;
  const message = 'name is a text of 1 to 64 characters';
  errors.push({ resource: 'App', field: 'name', code: 'custom', message });
  return undefined;
}

function readSlug(body: Fields, errors: FieldError[]): string | undefined {
  const slug = body['slug'];
  if (slug === undefined) return undefined;
  if (typeof slug === 'string' && /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/.test(slug)) return slug;
  errors.push({ resource: 'App', field: 'slug', code: 'invalid', value: slug });
  return undefined;
}

function readPem(body: Fields, errors: FieldError[]): string | undefined {
  const pem = body['public_key'];
  if (pem === undefined || pem === null) return undefined;
  if (typeof pem === 'string' && pem.length <= 16_384) return pem;
  errors.push({ resource: 'Key', field: 'public_key', code: 'invalid' });
  return undefined;
}

function readOwner(value: unknown, errors: FieldError[]): AppOwner | null | undefined {
  if (value === undefined || value === null) return value;
  const { login, id, type = 'Organization', plan = 'free' } = Object(value) as Fields;
  const bad = (field: string, given: unknown) =>
    errors.push({ resource: 'App', field: `owner.${field}`, code: 'invalid', value: given });
  const isLogin = typeof login === 'string' && /^[\w.-]{1,100}$/.test(login);
  const isId = typeof id === 'number' && Number.isSafeInteger(id) && id >= 1;
  const isType = type === 'User' || type === 'Organization';
  const isPlan = plan === 'free' || plan === 'enterprise';
  if (!isLogin) bad('login', login);
  if (!isId) bad('id', id);
  if (!isType) bad('type', type);
  if (!isPlan) bad('plan', plan);
  return isLogin && isId && isType && isPlan ? { login, id, type, plan } : undefined;
}
