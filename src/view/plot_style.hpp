#pragma once
// How charts look. The colours are those of Okabe and Ito, which people tell apart whatever colours
// they see ["Color Universal Design", 2008]; their black is a dark grey here, a light one in the
// dark.

#include <string_view>

namespace titer {

inline constexpr std::string_view kPlotStyle = R"(
.plot{font-family:system-ui,-apple-system,"Segoe UI",Roboto,Helvetica,Arial,sans-serif}
.plot text{font-size:12px;fill:#1d2530}
.plot .title{font-weight:bold}
.plot .small{font-size:11px;fill:#566272}
.plot .label{paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-linejoin:round}
.plot .mid{text-anchor:middle}
.plot .end{text-anchor:end}
.plot .grid{stroke:#e3e7ec;fill:none}
.plot .axis{stroke:#9aa5b1;fill:none}
.plot .limit{stroke:#1d2530;stroke-width:1.4;stroke-dasharray:5 3;fill:none}
.plot .range{stroke:#1d2530;stroke-width:1.4;fill:none}
.plot .sheet{fill:#fff}
.plot .part{stroke:#fff;stroke-width:1}
.plot .line{fill:none;stroke-width:2;stroke-linejoin:round}
.plot .band{fill-opacity:.16}
.plot .t0{fill:#0072b2}.plot .t1{fill:#e69f00}.plot .t2{fill:#009e73}.plot .t3{fill:#d55e00}
.plot .t4{fill:#56b4e9}.plot .t5{fill:#cc79a7}.plot .t6{fill:#f0e442}.plot .t7{fill:#3d4450}
.plot .t8{fill:#c4cbd3}
.plot .l0{stroke:#0072b2}.plot .l1{stroke:#e69f00}.plot .l2{stroke:#009e73}.plot .l3{stroke:#d55e00}
.plot .l4{stroke:#56b4e9}.plot .l5{stroke:#cc79a7}.plot .l6{stroke:#c8b900}.plot .l7{stroke:#3d4450}
.plot .l8{stroke:#8a94a0}
.plot .hatch{stroke:#1d2530;stroke-opacity:.55;stroke-width:1.5}
.plot text.on{fill:#10151c}
.plot text.on0,.plot text.on7{fill:#fff}
.plot .mark:hover,.plot .mark.at{opacity:.7}
@media screen and (prefers-color-scheme:dark){
.plot text{fill:#e6eaf0}
.plot .small{fill:#a4afbd}
.plot .grid{stroke:#2b333f}
.plot .axis{stroke:#66717f}
.plot .limit,.plot .range{stroke:#e6eaf0}
.plot .sheet{fill:#151a21}
.plot .label{stroke:#151a21}
.plot .part{stroke:#151a21}
.plot .t0{fill:#3b9ddb}.plot .l0{stroke:#3b9ddb}
.plot .t7{fill:#d5dbe3}.plot .l7{stroke:#d5dbe3}
.plot .t8{fill:#4a5462}
.plot .band{fill-opacity:.28}
.plot text.on{fill:#10151c}
.plot text.on8{fill:#e6eaf0}
}
)";

}  // namespace titer
