import type { Violation } from '../../model/violation.js';
import type { FieldContext } from './field-context.js';
import type { LocatedFile } from './touched-fields.js';
import { firstOf, quote, violate } from './violate.js';

/** Files that stand for an outcome of a verification; they fit every purpose. */
const TEST_FILE_IDS: ReadonlySet<string> = new Set([
  'file_identity_document_success',
  'file_identity_document_fail',
  'file_address_success',
  'file_address_fail',
]);

/** Row 47. */
export function checkDocuments(at: FieldContext): Violation | undefined {
  return firstOf(at.touched.files, (file) => {
    const record = at.facts.files.get(file.value);
    const isOwn = record?.accountId === undefined || record.accountId === at.accountId;
    if (isTestFile(file, at) || (record && !record.isDeleted && isOwn)) return undefined;
    return violate('document_invalid', {
      param: file.path,
      message: `${file.path} names a file that this account cannot use: ${quote(file.value)}.`,
    });
  });
}

/** Row 48. */
export function checkDocumentPurposes(at: FieldContext): Violation | undefined {
  return firstOf(at.touched.files, (file) => {
    const purpose = at.facts.files.get(file.value)?.purpose;
    if (isTestFile(file, at) || purpose === file.purpose) return undefined;
    return violate('document_purpose_invalid', {
      param: file.path,
      message: `${file.path} needs a file of purpose ${file.purpose}, not ${purpose}.`,
    });
  });
}

function isTestFile(file: LocatedFile, at: FieldContext): boolean {
  return !at.livemode && TEST_FILE_IDS.has(file.value);
}
