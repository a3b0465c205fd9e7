import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { RecordingOutput } from '../../test/recording-output.ts';
import { createProgress, progressText } from './progress.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const text = () => progressText('importing', 0.505, 12_345);

describe('createProgress', () => {
  test('redraws one line below messages, and erases it at the end', () => {
    const output = new RecordingOutput({ isTTY: true });
    const progress = createProgress(output, text);
    vi.advanceTimersByTime(200);
    progress.print('file:1: bad');
    progress.end();
    vi.advanceTimersByTime(1_000);
    expect(output.text).toBe('\r\u001b[Kimporting 50 %  12,345 pets\r\u001b[Kfile:1: bad\n\r\u001b[K');
  });

  test('keeps to one line on a narrow terminal', () => {
    const output = new RecordingOutput({ isTTY: true, columns: 20 });
    const progress = createProgress(output, text);
    vi.advanceTimersByTime(200);
    progress.end();
    expect(output.text).toBe('\r\u001b[Kimporting 50 %  12,\r\u001b[K');
  });

  test('writes no progress to a file', () => {
    const output = new RecordingOutput();
    const progress = createProgress(output, text);
    vi.advanceTimersByTime(1_000);
    progress.print('file:1: bad');
    progress.end();
    expect(output.text).toBe('file:1: bad\n');
  });
});
