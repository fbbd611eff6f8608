"""Second routes to formulas under the claims of Biswas, Cormode and Maple, Section 2."""

from compared import Pairs, compared

from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.biswas2022.section_2 import SETTINGS
from ldpnb.papers.biswas2022.written_out import direct_encoding


@compared
def test_the_channel_is_that_of_definition_2_4() -> Pairs:
    for epsilon, size in SETTINGS:
        yield KaryRandomisedResponse(epsilon, size).channel(), direct_encoding(epsilon, size)
