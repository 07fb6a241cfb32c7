"""Nothing in; reports as people publish them, in words of our own: two that are wrong, one not."""

from __future__ import annotations

PICTURES = """\
---
hardware: NPU
---
# A picture encoder on the NPU

This port yields image embeddings for search.

## Smoke test

The image is read at 224 × 224 and the output shape is [1, 1000].

## Performance

Mean latency of one picture: 14.8 ms

| Metric | Value |
|---|---|
| Largest difference | 0.0093 |
| Mean difference | 0.0013 |
| Cosine | 0.99999 |

## Accuracy

| Check | NPU |
|---|---|
| Top-1 | 100 % |
| Top-5 | 100 % |

Accuracy of the port: {accuracy}

## Summary

With pictures of [1, 3, 256, 256] the output is [1, 640]. The mean latency is 18.9 ms.
"""

MASKS = """\
# Filling masks in a hundred languages

The model has 24 layers, a hidden size of 1024 and a vocabulary of 250002.
The maximum sequence length is 1024.

## Speed

One sentence takes 4.8 s on the Xeon and 0.4 s on the 910, which is 8x faster.

| Batch | Time (s) | Throughput (sentences/s) | Speed-up |
|---|---|---|---|
| 1 | 0.4 | 2.5 | 1.0x |
| 4 | 0.8 | 5.0 | 2.0x |
| 16 | 1.5 | 26.7 | 10.7x |

## Energy

| Device | Power (W) | Time (s) | Energy (J) | Efficiency ratio |
|---|---|---|---|---|
| Xeon | 150 | 4.8 | 720 | 1x |
| V100 | 300 | 1.2 | 360 | 2.7x |
| 910 | 50 | 0.4 | 20 | 12x |

The energy is 1 : 2.7 : 12 from the first to the last; another one is ${to_be_measured}.

| Device | Power (W) | Time (s) | Energy (J) |
|---|---|---|---|
| 310 | 8 | 2.0 | 61 |

## Accuracy

On 10 sentences the best token agrees in 100 % of cases: 9 of 10 (95 %) have the same five.
The port is better by 0.5 points of accuracy.
"""

HONEST = """\
# A classifier of market mood, carried to another processor

It has 3 labels, 12 layers and a hidden size of 768; the longest input is 512 tokens.

## What was measured

The CPU takes 96.0 ms for a batch of 16 and the NPU takes 12.0 ms, which is 8.0x faster.
That is a drop from 96.0 ms to 12.0 ms, 87.5 % less.

| Plan | Batch | Latency (ms) | Throughput (posts/s) | Speed-up |
|---|---|---|---|---|
| `torch/cpu/float32` | 16 | 96.0 | 166.7 | 1.0x |
| `torch/npu/float32` | 16 | 12.0 | 1,333 | 8.0x |
| `torch/npu/float16` | 16 | 7.9 | 2,020 | 12.1x |

| Device | Power (W) | Time (s) | Energy (J) |
|---|---|---|---|
| CPU | 150 | 4.8 | 720 |
| GPU | 300 | 1.2 | 360 |
| NPU | 50 | 0.4 | 20 |

The energy stands as 1 : 2 : 36.

| Metric | float32 | float16 |
|---|---|---|
| Cosine | 0.99999998 | 0.99991 |
| Mean difference | 1.1e-7 | 2.9e-4 |
| Top-1 | 100 % | 99.9 % |

On 3,000 posts the label is the same in 100 % of cases at float32; 2,996 of 3,000 (99.87 %) at
float16. The first call takes 1.9 s, later ones 12.0 ms. The p99 latency is 13.4 ms.
Accuracy rose from 0.7120 to 0.7123, which on 3,000 posts means nothing.

## Summary

At float32 on the NPU a batch of 16 has a latency of about 12 ms; the mean cosine is 0.99999998
at float32 and at least 0.9999 at float16. Limits: latency under 20 ms, cosine above 0.99.

```python
print(f"latency {latency:.2f} ms, {accuracy}")
```

```console
$ likewise run <your folder> --text "to the moon"   # TODO is not a word of this report
```
"""
