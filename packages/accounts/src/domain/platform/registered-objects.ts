import type { Clock, Random } from '@plinth/kernel';
import { IdGenerator } from '../../model/ids.js';
import type {
  RegisteredFile,
  RegisteredInvoiceTemplate,
  RegisteredObject,
  RegisteredObjectKind,
  RegisteredPaymentMethod,
} from '../../model/platform/registered-object.js';
import type { Tenant } from '../../model/platform/tenant.js';
import { type CommitQueue, WriteSet } from '../../storage/commit-queue.js';
import type { RegisteredObjectStore } from '../../storage/registered-object-store.js';
import { invalidFields } from '../refusals.js';

/** Maximum size of a file. Its content is checked but not stored. */
const MAX_FILE_SIZE_BYTES = 10 * 1024 * 1024;
const MAGIC_BYTES: readonly (readonly number[])[] = [
  [0xff, 0xd8, 0xff], // JPEG
  [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], // PNG
  [0x25, 0x50, 0x44, 0x46, 0x2d], // PDF
];

export interface NewFile {
  readonly purpose: string;
  readonly filename: string;
  readonly content_base64: string;
  readonly livemode: boolean;
  readonly account?: string | null;
  readonly deleted?: boolean;
}

/**
 * Files, payment methods and invoice templates created by the operator. Source: accounts, section
 * 18.
 */
export class RegisteredObjects {
  readonly #deps: { readonly store: RegisteredObjectStore; readonly commits: CommitQueue };
  readonly #idGenerator: IdGenerator;

  constructor(deps: {
    readonly store: RegisteredObjectStore;
    readonly commits: CommitQueue;
    readonly clock: Clock;
    readonly random: Random;
  }) {
    this.#deps = deps;
    this.#idGenerator = new IdGenerator({ clock: deps.clock, random: deps.random, length: 24 });
  }

  async addFile(tenant: Tenant, file: NewFile): Promise<RegisteredFile> {
    const { purpose, filename, livemode, account, deleted = false } = file;
    const size = sizeOf(file.content_base64);
    return await this.#add(tenant, 'file', (letters) => ({
      id: `file_${letters}`,
      purpose,
      filename,
      size,
      livemode,
      ...(account && { account }),
      deleted,
    }));
  }

  async addPaymentMethod(
    tenant: Tenant,
    options: {
      readonly type: string;
      readonly account?: string | null;
      readonly detached?: boolean;
    },
  ): Promise<RegisteredPaymentMethod> {
    const { type, account, detached = false } = options;
    const { livemode } = tenant;
    return await this.#add(tenant, 'payment_method', (letters) => ({
      id: `pm_${letters}`,
      type,
      livemode,
      ...(account && { account }),
      detached,
    }));
  }

  async addTemplate(tenant: Tenant, archived: boolean): Promise<RegisteredInvoiceTemplate> {
    const { livemode } = tenant;
    return await this.#add(tenant, 'invoice_template', (letters) => ({
      id: `inrtem_${letters}`,
      livemode,
      archived,
    }));
  }

  async #add<T extends RegisteredObject>(
    tenant: Tenant,
    kind: RegisteredObjectKind,
    make: (letters: string) => T,
  ): Promise<T> {
    const { createdMs, letters } = this.#idGenerator.next();
    const object = make(letters);
    const writes = new WriteSet();
    this.#deps.store.put(writes, { tenant, kind, createdMs, object });
    await this.#deps.commits.commit(writes);
    return object;
  }
}

/** Throws if the content is not a supported document type. */
function sizeOf(base64: string): number {
  const content = Buffer.from(base64, 'base64');
  const isKnown = MAGIC_BYTES.some((magic) =>
    magic.every((byte, index) => content[index] === byte),
  );
  if (isKnown && content.length <= MAX_FILE_SIZE_BYTES) return content.length;
  const field = 'content_base64';
  const message = isKnown
    ? `${field} is larger than ${MAX_FILE_SIZE_BYTES} bytes.`
    : `${field} is not a JPEG, PNG or PDF file.`;
  throw invalidFields([{ field, code: isKnown ? 'too_long' : 'bad_format', message }]);
}
