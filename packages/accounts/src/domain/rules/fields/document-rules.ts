import type { Violation } from '../../../model/violation.js';
import { firstOf, quote, violate } from '../violate.js';
import type { FieldContext } from './field-context.js';

/** Purpose of test-mode files that are valid everywhere. */
const ANY_PURPOSE = '*';

/** Files must exist and belong to the account (row 47). */
export function checkDocuments(at: FieldContext): Violation | undefined {
  return firstOf(at.provided.files, (file) => {
    const record = at.facts.files.get(file.value);
    const isOwn = record?.accountId === undefined || record.accountId === at.accountId;
    if (record && !record.isDeleted && isOwn) return undefined;
    return violate('document_invalid', {
      param: file.path,
      message: `${file.path} refers to a file that this account cannot use: ${quote(file.value)}.`,
    });
  });
}

/** Files must have the right purpose (row 48). */
export function checkDocumentPurposes(at: FieldContext): Violation | undefined {
  return firstOf(at.provided.files, (file) => {
    const purpose = at.facts.files.get(file.value)?.purpose;
    if (purpose === file.purpose || purpose === ANY_PURPOSE) return undefined;
    return violate('document_purpose_invalid', {
      param: file.path,
      message: `${file.path} requires a file with the purpose ${file.purpose}, not ${purpose}.`,
    });
  });
}
