import { type HttpRequest, queryOf } from '@plinth/kernel';
import type { DataSet } from '../../domain/data/data-set.js';
import type { Precondition } from '../../domain/edit/editor.js';
import { Parameters } from '../../domain/query/parameters.js';
import { gameDataError } from '../../errors.js';
import { findKind, KINDS, type Kind } from '../../model/kinds.js';

// Request parsing of the editor routes, except for bodies.

export const parametersOf = ({ url }: HttpRequest): Parameters => new Parameters(queryOf(url));

export const parameterOf = ({ parameters }: HttpRequest, name: string): string =>
  parameters[name] ?? '';

export function kindOf(request: HttpRequest): Kind {
  const name = parameterOf(request, 'type');
  const kind = findKind(name);
  // The list of types has the path that a type named "types" would have.
  if (name === 'types') {
    const { method } = request;
    throw gameDataError('method_not_allowed', { method, allowed: ['GET', 'HEAD', 'OPTIONS'] });
  }
  if (kind === undefined) throw gameDataError('not_found', 'Unknown type');
  return kind;
}

/**
 * Returns the kinds selected by the path, or all kinds if the path has no type. As in the real
 * system, saving an unknown type returns 400.
 */
export function kindsOf(request: HttpRequest): readonly Kind[] {
  const name = parameterOf(request, 'type');
  if (name === '') return KINDS;
  const kind = findKind(name);
  if (kind !== undefined) return [kind];
  throw gameDataError('invalid_parameter', { param: 'type', message: 'Invalid type' });
}

export const isKeyedBySlug = (kind: Kind): boolean => kind === 'traders' || kind === 'maps';

/** In lists keyed by slug, that key also identifies the record. */
export function idOf(request: HttpRequest, set: DataSet): string {
  const kind = kindOf(request);
  const key = parameterOf(request, 'id');
  if (!isKeyedBySlug(kind) || set.row(kind, key) !== undefined) return key;
  return set.tables[kind].bySlug(key)?.id ?? key;
}

export function targetOf(
  request: HttpRequest,
  set: DataSet,
): { readonly kind: Kind; readonly id: string } & Precondition {
  const header = request.headers['if-match'];
  const ifMatch =
    header === undefined
      ? undefined
      : header.trim() === '*'
        ? '*'
        : // A foreign tag never matches a revision.
          header.split(',').map((tag) => Number(/^\s*"r(\d+)"\s*$/.exec(tag)?.[1] ?? -1));
  return { kind: kindOf(request), id: idOf(request, set), ifMatch };
}
