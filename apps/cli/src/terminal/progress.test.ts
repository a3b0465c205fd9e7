import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { RecordingOutput } from '../../test/recording-output.ts';
import { createProgress, progressLine } from './progress.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const position = () => ({ share: 0.5, pets: 100 });

describe('createProgress', () => {
  test('shows share, speed and remaining time', () => {
    expect(progressLine('importing', { share: 0.25, pets: 250_000 }, 5_000)).toBe(
      'importing 25 %  250,000 pets  50,000/s  0:15 left',
    );
    expect(progressLine('importing', { share: 0.5, pets: 1 }, 7_384_000)).toBe(
      'importing 50 %  1 pets  0/s  2:03:04 left',
    );
    expect(progressLine('importing', { share: 0.01, pets: 1 }, 1e7)).toMatch(/ 23:59:59 left$/);
    expect(progressLine('importing', { share: 1e-16, pets: 1 }, 1e7)).toMatch(/ 23:59:59 left$/);
    expect(progressLine('importing', { share: 0.5, pets: 1 }, 600_000)).toMatch(/ 10:00 left$/);
    expect(progressLine('importing', { share: 0, pets: 0 }, 0)).toBe('importing 0 %  0 pets  0/s  ? left');
  });

  test('redraws one line below messages, and erases it at the end', () => {
    const output = new RecordingOutput({ isTTY: true });
    const progress = createProgress(output, 'importing', position, { clock: Date.now });
    vi.advanceTimersByTime(200);
    progress.print('file:1: bad');
    progress.end();
    vi.advanceTimersByTime(1_000);
    expect(output.text).toBe('\r\u001b[Kimporting 50 %  100 pets  500/s  0:01 left\r\u001b[Kfile:1: bad\n\r\u001b[K');
  });

  test('keeps to one line on a narrow terminal', () => {
    const output = new RecordingOutput({ isTTY: true, columns: 20 });
    const progress = createProgress(output, 'importing', position, { clock: Date.now });
    vi.advanceTimersByTime(200);
    progress.end();
    expect(output.text).toBe('\r\u001b[Kimporting 50 %  100\r\u001b[K');
  });

  test('writes no progress to a file', () => {
    const output = new RecordingOutput();
    const progress = createProgress(output, 'importing', position, { clock: Date.now });
    vi.advanceTimersByTime(1_000);
    progress.print('file:1: bad');
    progress.end();
    expect(output.text).toBe('file:1: bad\n');
  });
});
