import type { Violation } from '../../../model/violation.js';
import { firstOf, quote, violate } from '../violate.js';
import type { FieldContext } from './field-context.js';

/** Purpose of test-mode files that are valid everywhere. */
const ANY_PURPOSE = '*';

/** Files must exist and belong to the account (row 47). */
export function checkDocuments(context: FieldContext): Violation | undefined {
  return firstOf(context.provided.files, (file) => {
    const record = context.facts.files.get(file.value);
    const isOwn = record?.accountId === undefined || record.accountId === context.accountId;
    if (record && !record.isDeleted && isOwn) return undefined;
    return violate('document_invalid', {
      param: file.path,
      message: `${file.path} refers to a file that this account cannot use: ${quote(file.value)}.`,
    });
  });
}

/** Files must have the right purpose (row 48). */
export function checkDocumentPurposes(context: FieldContext): Violation | undefined {
  return firstOf(context.provided.files, (file) => {
    const purpose = context.facts.files.get(file.value)?.purpose;
    if (purpose === file.purpose || purpose === ANY_PURPOSE) return undefined;
    return violate('document_purpose_invalid', {
      param: file.path,
      message: `${file.path} requires a file with the purpose "${file.purpose}", not "${purpose}".`,
    });
  });
}
