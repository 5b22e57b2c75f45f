import { type SecretBox, SecretUnreadable, URL_MASK } from '@plinth/kernel';

/**
 * Encrypts URLs in delivery records. Paths and queries of receiver URLs often contain keys, and
 * records are kept for a long time.
 */
export class EncryptedUrls {
  readonly #box: SecretBox;

  constructor(box: SecretBox) {
    this.#box = box;
  }

  encrypt(url: string, appId: number): string {
    return Buffer.from(this.#box.seal(url, associatedDataOf(appId))).toString('base64');
  }

  /**
   * Returns a mask for a URL that was encrypted with another master key, so that the other fields of the record remain readable.
   */
  decrypt(text: string, appId: number): string {
    // Records from before URLs were encrypted contain plain text. A URL has a colon after its
    // scheme, which Base64 never contains.
    if (text.includes(':')) return text;
    try {
      return this.#box.open(Buffer.from(text, 'base64'), associatedDataOf(appId));
    } catch (error) {
      if (error instanceof SecretUnreadable) return URL_MASK;
      throw error;
    }
  }
}

const associatedDataOf = (appId: number): string => `webhooks_delivery_details ${appId}`;
