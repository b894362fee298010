/** The most text of one joined event, in characters: escaped as JSON it still fits well into a frame. */
const mostCharacters = 64 * 1024;

/** A whole line of output as it stands in an event: such lines can be joined by newlines, and read the same. */
export interface OutputLine {
  readonly stream: string;
  readonly text: string;
}

/** The data of a `session.output` that is a whole line and nothing else; `undefined`: it must stay an event of its own. */
export function asOutputLine(type: string, data: Readonly<Record<string, unknown>>): OutputLine | undefined {
  const { stream, text, ...others } = data;
  const isLine = typeof stream === 'string' && typeof text === 'string' && Object.keys(others).length === 0;
  return type === 'session.output' && isLine ? { stream, text } : undefined;
}

/** Consecutive lines of one stream on their way into one event. */
export class JoinedLines {
  readonly #stream: string;
  #text: string;

  constructor({ stream, text }: OutputLine) {
    this.#stream = stream;
    this.#text = text;
  }

  get data(): OutputLine {
    return { stream: this.#stream, text: this.#text };
  }

  /** Takes the next line; `false`: it is of another stream, or there is no room. */
  add({ stream, text }: OutputLine): boolean {
    if (stream !== this.#stream || this.#text.length + 1 + text.length > mostCharacters) return false;
    this.#text += `\n${text}`;
    return true;
  }
}
