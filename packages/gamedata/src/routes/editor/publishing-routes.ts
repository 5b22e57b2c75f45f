import type { Published } from '../../domain/publication.js';
import { ParameterInvalid, ValidationFailed } from '../../errors.js';
import { findJsonFaults } from '../../model/json-faults.js';
import { describeVersion } from '../pages/version-pages.js';
import { MAX_RECORD_SIZE_BYTES, readOptionalObject, unpackedBytesOf } from './editor-body.js';
import { kindsOf, parameterOf } from './editor-requests.js';
import type { EditorRouter } from './editor-router.js';

const MAX_MESSAGE_LENGTH = 1000;

/** From the draft to a version, and back to an older one. */
export function registerPublishingRoutes(router: EditorRouter): void {
  const { parts } = router;
  for (const path of ['save', 'save/:type']) {
    router.post(path, 'publish', async (request, attempt) => {
      const kinds = kindsOf(request);
      const { message } = readOptionalObject(await unpackedBytesOf(request, MAX_RECORD_SIZE_BYTES));
      return saved(await parts.editor().publishing.save(attempt, kinds, messageOf(message), saved));
    });
  }
  for (const path of ['discard', 'discard/:type']) {
    router.post(path, 'write', async (request, attempt) => {
      const discarded = await parts.editor().publishing.discard(attempt, kindsOf(request));
      return { success: true, discarded };
    });
  }
  for (const path of ['validate', 'validate/:type']) {
    router.route('GET', path, 'read', async (request) => {
      const errors = await parts.editor().publishing.validate(kindsOf(request));
      return { body: { valid: errors.length === 0, errors, warnings: [] } };
    });
  }
  router.route('GET', 'versions', 'read', async () => {
    const versions = parts.library.versions.map(({ version }) => version).reverse();
    const described = versions.map((number) => describeVersion(parts.library, number));
    return { body: { total: versions.length, count: versions.length, versions: described } };
  });
  router.post('versions/:n/restore', 'admin', async (request, attempt) => {
    const text = parameterOf(request, 'n');
    if (!/^[1-9]\d{0,9}$/.test(text)) {
      throw new ParameterInvalid({ param: 'n', message: 'a version is a whole number from 1 on' });
    }
    const describe = ({ version }: Published) => ({ success: true, version: version.version });
    return describe(await parts.editor().publishing.restore(attempt, Number(text), describe));
  });
}

function saved({ version, changed }: Published): unknown {
  return { success: true, message: 'Data saved to file', version: version.version, changed };
}

function messageOf(message: unknown): string {
  if (message === undefined) return '';
  if (typeof message === 'string' && message.length <= MAX_MESSAGE_LENGTH) {
    const faults = findJsonFaults({ message });
    if (faults.length === 0) return message;
    throw new ValidationFailed('the message cannot be taken', faults);
  }
  const text = `message must be text of at most ${MAX_MESSAGE_LENGTH} characters`;
  throw new ValidationFailed(text, [{ path: '/message', code: 'type', message: text }]);
}
