import type { Route, RouteDocs } from '@plinth/kernel';
import { Type } from 'typebox';
import type { Published } from '../../domain/publication.js';
import { gameDataError } from '../../errors.js';
import { findJsonFaults } from '../../model/json-faults.js';
import { describeVersion } from '../pages/version-pages.js';
import { readOptionalObject } from './editor-body.js';
import { kindsOf, parameterOf } from './editor-requests.js';
import type { EditorRouter, Handle, Work } from './editor-router.js';

const MAX_MESSAGE_LENGTH = 1000;

const MESSAGE = {
  body: Type.Object({
    message: Type.Optional(Type.String({ maxLength: MAX_MESSAGE_LENGTH })),
  }),
  isBodyOptional: true,
};
const PUBLISH: RouteDocs = {
  operationId: 'publish',
  summary: 'Validate and publish the draft',
  ...MESSAGE,
};
const PUBLISH_TYPE: RouteDocs = {
  operationId: 'publishType',
  summary: 'Publish one type',
  ...MESSAGE,
};
const DISCARD = { operationId: 'discard', summary: 'Discard unpublished changes' };
const DISCARD_TYPE = {
  operationId: 'discardType',
  summary: 'Discard unpublished changes of one type',
};
const VALIDATE = { operationId: 'validate', summary: 'Validate the draft' };
const VALIDATE_TYPE = { operationId: 'validateType', summary: 'Validate one type' };
const VERSIONS = { operationId: 'listEditorVersions', summary: 'List versions, newest first' };
const RESTORE = { operationId: 'restore', summary: 'Publish an older version again' };

/** Returns the routes that publish the draft, discard it, or restore an older version. */
export function publishingRoutes(router: EditorRouter): readonly Route[] {
  const { deps } = router;
  const save: Work = async (request, attempt) => {
    const kinds = kindsOf(request);
    const { message } = readOptionalObject(request.body);
    return saved(await deps.editor.publishing.save(attempt, kinds, messageOf(message), saved));
  };
  const discard: Work = async (request, attempt) => {
    const discarded = await deps.editor.publishing.discard(attempt, kindsOf(request));
    return { success: true, discarded };
  };
  const validate: Handle = async (request) => {
    const errors = await deps.editor.publishing.validate(kindsOf(request));
    return { body: { valid: errors.length === 0, errors, warnings: [] } };
  };
  return [
    ...router.post('save', 'publish', PUBLISH, save),
    ...router.post('save/:type', 'publish', PUBLISH_TYPE, save),
    ...router.post('discard', 'write', DISCARD, discard),
    ...router.post('discard/:type', 'write', DISCARD_TYPE, discard),
    ...router.route('GET', 'validate', 'read', VALIDATE, validate),
    ...router.route('GET', 'validate/:type', 'read', VALIDATE_TYPE, validate),
    ...router.route('GET', 'versions', 'read', VERSIONS, async () => {
      const versions = deps.library.versions.map(({ version }) => version).reverse();
      const described = versions.map((number) => describeVersion(deps.library, number));
      return { body: { total: versions.length, count: versions.length, versions: described } };
    }),
    ...router.post('versions/:n/restore', 'admin', RESTORE, async (request, attempt) => {
      const text = parameterOf(request, 'n');
      if (!/^[1-9]\d{0,9}$/.test(text)) {
        const message = 'version must be an integer of at least 1';
        throw gameDataError('invalid_parameter', { param: 'n', message });
      }
      const describe = ({ version }: Published) => ({ success: true, version: version.version });
      return describe(await deps.editor.publishing.restore(attempt, Number(text), describe));
    }),
  ];
}

function saved({ version, changed }: Published): unknown {
  return { success: true, message: 'Data saved to file', version: version.version, changed };
}

function messageOf(message: unknown): string {
  if (message === undefined) return '';
  if (typeof message === 'string' && message.length <= MAX_MESSAGE_LENGTH) {
    const faults = findJsonFaults({ message });
    if (faults.length === 0) return message;
    throw gameDataError('validation_failed', {
      message: 'invalid message',
      details: faults,
    });
  }
  const text = `message must be text of at most ${MAX_MESSAGE_LENGTH} characters`;
  throw gameDataError('validation_failed', {
    message: text,
    details: [{ path: '/message', code: 'type', message: text }],
  });
}
