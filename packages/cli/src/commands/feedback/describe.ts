import type { Bundle } from '@sallyport/telemetry/feedback';
import { size } from '../../io/size.ts';
import { pairs } from '../../io/table.ts';

/** What a bundle has and has not, before it is sent. */
export function describeBundle({ path, bytes, manifest }: Bundle): string {
  const files = manifest.files.map((file): readonly [string, string] => {
    const notes = [
      size(file.bytes),
      file.redacted_lines > 0 &&
        `${file.redacted_lines} ${file.redacted_lines === 1 ? 'line' : 'lines'} redacted`,
      file.left_out_bytes > 0 && `the end; ${size(file.left_out_bytes)} before it left out`,
    ];
    return [`  ${file.name}`, notes.filter(Boolean).join(', ')];
  });
  const omitted = manifest.omitted.map(({ name, why }): readonly [string, string] => [
    `  ${name}`,
    `left out: ${why}`,
  ]);
  return [
    `The bundle (${size(bytes)}, ${path}) has:`,
    pairs([...files, ['  manifest.json', 'this list'], ...omitted]),
  ].join('\n');
}
