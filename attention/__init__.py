# ruff: noqa: F401, I001     the imports stand in reading order
"""attention: a soft, differentiable dictionary lookup, built on minigrad.

Read the files in the order of these imports; each uses only those before it, Tensor's
methods, which ops/ attach, and what comes last: the checks and the platform.
"""

from .lookup import dot, hard_lookup, soft_lookup
from .scores import additive, bilinear, cosine, gaussian, scaled_dot
from .masks import causal_mask, padding_mask
from .attend import attention
from .positions import rope, sinusoidal
from .heads import MultiHeadAttention, SelfAttention, merge_heads, split_heads
from .block import Block
from .gpt import GPT, generate
from . import tiles
from .tiled import tiled_attention
from . import checks
