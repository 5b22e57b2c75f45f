/** Gathers lines into statements: one ends with a semicolon that stands in no quotes. */
export class StatementReader {
  #text = '';

  /** True within a statement that has begun. */
  get isOpen(): boolean {
    return this.#text.trim() !== '';
  }

  /** @returns the statements that the line completes, without their semicolons */
  add(line: string): string[] {
    this.#text += this.#text === '' ? line : `\n${line}`;
    const statements: string[] = [];
    for (let end = endOf(this.#text); end >= 0; end = endOf(this.#text)) {
      const statement = this.#text.slice(0, end).trim();
      this.#text = this.#text.slice(end + 1);
      if (statement !== '') statements.push(statement);
    }
    if (this.#text.trim() === '') this.#text = '';
    return statements;
  }

  clear(): void {
    this.#text = '';
  }

  /** What was begun and never ended. */
  rest(): string {
    return this.#text.trim();
  }
}

function endOf(text: string): number {
  let quote = '';
  for (let i = 0; i < text.length; i++) {
    const character = text[i] as string; // below its length
    if (quote !== '') {
      if (character === '\\') i++;
      else if (character === quote) quote = '';
    } else if (character === "'" || character === '"') quote = character;
    else if (character === ';') return i;
  }
  return -1;
}
