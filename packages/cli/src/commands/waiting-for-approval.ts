import type { Timer } from '@sallyport/core';
import type { DevicePrompt } from '@sallyport/oauth';
import type { Context } from '../context.ts';
import { countdown } from '../io/countdown.ts';
import { printable } from '../io/printable.ts';
import { qrCode } from '../io/qr-code.ts';

/** Shows a person what to do for a device login, and for how long the code still holds. */
export function waitingForApproval(context: Context) {
  const { clock, terminal } = context;
  let timer: Timer | undefined;
  return {
    async show(prompt: DevicePrompt): Promise<void> {
      const {
        verification_uri: uri,
        verification_uri_complete: complete,
        user_code: code,
        expiresAt,
      } = prompt;
      const address = terminal.style('underline', printable(uri), 'err');
      const shown = terminal.style('bold', printable(code), 'err');
      terminal.note(`Open ${address} in a browser and enter the code ${shown}`);
      const qr = complete === undefined ? undefined : await qrCode(complete, terminal);
      if (qr !== undefined) terminal.note(`\n${qr}\n`);
      if (terminal.columns > 0) {
        timer = countdown(context, 'Waiting for your approval; the code holds for', expiresAt);
      } else {
        const minutes = Math.round((expiresAt - clock.now()) / 60_000);
        terminal.note(`Waiting for your approval; the code holds for ${minutes} minutes.`);
      }
    },
    end: () => timer?.cancel(),
  };
}
